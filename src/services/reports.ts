import { overriddenBy } from '../domain/claim.ts'
import { decodeCursor, encodeCursor } from '../domain/cursor.ts'
import { distinctiveWords, pairsOf } from '../domain/distinctive-words.ts'
import { decideMerge, decideUnmerge } from '../domain/merging.ts'
import type { Operations } from '../domain/operation.ts'
import { taskOrderOf } from '../domain/task-order.ts'
import { taskNotFound } from '../errors/index.ts'
import type { Clock } from '../lib/clock.ts'
import type { BoundRepositories, Repositories } from '../repositories/index.ts'
import type { Reported, ReportedCount } from '../repositories/reported-counts.ts'
import type { SimilarTask } from '../repositories/similar-tasks.ts'
import type { ReportCounts, ReportQuery, SimilarQuery, TaskReportCounts } from '../schemas/report.ts'
import type { Task, TaskListItem, WrittenTask } from '../schemas/task.ts'
import type { Caller } from './access.ts'
import { actorOf, changeLog } from './activity/row.ts'
import { itemsOf, type PageJson } from './page.ts'
import { lockTasks, writableTask } from './tasks/locks.ts'
import { countReport, type LockedReport, withTarget } from './tasks/merged.ts'
import { writtenFor, writtenTask } from './tasks/view.ts'

export const reportOperations = {
  merge: { scope: 'tasks:write' },
  unmerge: { scope: 'tasks:write' },
  list: { scope: 'tasks:read' },
  count: { scope: 'tasks:read' },
  listSimilar: { scope: 'tasks:read' },
  brief: { scope: 'tasks:read' },
} satisfies Operations<ReturnType<typeof reportsService>>

/**
 * Reports: tasks that are merged into another one, because they are about the same. A report is done as long as it is
 * merged; its target counts it, which changes no version of the target.
 */
export function reportsService({ repos, clock }: { repos: Repositories; clock: Clock }) {
  const log = changeLog(clock)

  return {
    /**
     * Merges a task into another one of its project; returns one that is merged into it already unchanged.
     * @throws task_not_found, project_archived, merge_conflict, claim_lost, task_claimed
     */
    async merge(
      caller: Caller,
      {
        id,
        into: requestedInto,
        claimNumber,
      }: { id: string; into: string; claimNumber?: number | undefined },
    ): Promise<WrittenTask> {
      const into = requestedInto.toLowerCase()
      return repos.within(caller).transaction(async (repos) => {
        const locked = await lockTasks(repos, { ids: [id.toLowerCase(), into] })
        const task = writableTask(locked, id)
        const target = writableTask(locked, into)
        const now = clock.now()
        const actor = actorOf(caller)
        const merge = decideMerge(task, { target, claimNumber, actor, channel: caller.channel, now })
        if (merge) {
          await repos.tasks.update(task.id, { ...merge, updatedAt: now, version: task.version + 1 })
          const about = { taskId: task.id, projectId: task.projectId }
          const overridden = claimNumber === undefined ? overriddenBy(actor, task) : {}
          const metadata = { into, from: merge.statusBeforeMerge, ...overridden }
          await log(repos, { type: 'task.merged', caller, now, ...about, metadata })
          await countReport(repos, { clock, target, report: task, difference: 1, actor, now })
        }
        return writtenFor(caller, await writtenTask(repos, task.id))
      })
    },

    /**
     * Makes a report a task of its own again; returns a task that is not merged unchanged.
     * @throws task_not_found, project_archived
     */
    async unmerge(caller: Caller, id: string): Promise<WrittenTask> {
      const work = async (repos: BoundRepositories, { locked, target }: LockedReport) => {
        const task = writableTask(locked, id)
        const unmerge = decideUnmerge(task)
        if (unmerge) {
          const now = clock.now()
          await repos.tasks.update(task.id, { ...unmerge, updatedAt: now, version: task.version + 1 })
          const about = { taskId: task.id, projectId: task.projectId }
          const metadata = { from: task.mergedInto, to: unmerge.status }
          await log(repos, { type: 'task.unmerged', caller, now, ...about, metadata })
          const actor = actorOf(caller)
          if (target) await countReport(repos, { clock, target, report: task, difference: -1, actor, now })
        }
        return writtenFor(caller, await writtenTask(repos, task.id))
      }
      return withTarget(repos.within(caller), { id, work })
    },

    /**
     * The reports of a task as JSON text, which PostgreSQL makes: newest first.
     * @throws task_not_found, invalid_cursor
     */
    async list(caller: Caller, { id, query }: { id: string; query: ReportQuery }): Promise<PageJson> {
      const { limit = 50, cursor } = query
      const { sortBy, direction, isKey } = taskOrderOf({})
      const after = cursor === undefined ? undefined : decodeCursor(cursor, { sort: ORDER, isKey })
      const isSummary = query.fields === 'summary'
      const { tasks } = repos.within(caller)
      if (!(await tasks.find(id))) throw taskNotFound(id)
      const page = { sortBy, direction, after, limit: limit + 1, isSummary }
      const { items, last } = await tasks.list({ mergedInto: id }, page)
      const more = query.count ? { counts: countsOf((await tasks.countReported([id]))[0]) } : undefined
      return { items, nextCursor: last && encodeCursor(ORDER, last), more }
    },

    /**
     * Counts what was sent with tasks and all of their reports: together, and with each task. Those that aren't found
     * count nothing.
     */
    async count(caller: Caller, ids: string[]): Promise<TaskReportCounts> {
      const [all, ...each] = await repos.within(caller).tasks.countReported(ids)
      const tasks = each.flatMap((one) => (one.taskId ? { id: one.taskId, ...countsOf(one) } : []))
      return { ...countsOf(all), tasks }
    },

    /**
     * The tasks that resemble a task as JSON text, most similar first.
     * @throws task_not_found
     */
    async listSimilar(
      caller: Caller,
      { id, query: { limit = 10 } }: { id: string; query: SimilarQuery },
    ): Promise<{ items: SimilarTask[]; isAvailable: boolean }> {
      const bound = repos.within(caller)
      const task = await bound.tasks.find(id)
      if (!task) throw taskNotFound(id)
      return similarTo(bound, { task, limit })
    },

    /**
     * The newest reports of a task that was just read, and tasks that resemble it unless it is done: a few of each, with
     * their titles.
     */
    async brief(caller: Caller, { task, limit }: { task: ReadTask; limit: number }) {
      const bound = repos.within(caller)
      const latest = task.reports === 1 ? [] : await latestReports(bound, { id: task.id, limit })
      const similar = task.status === 'done' ? [] : (await similarTo(bound, { task, limit })).items
      return {
        latestReports: latest.map(({ id, title, openedAt }) => ({ id, title, openedAt })),
        similar: similar.map(({ json, similarity }) => {
          const { id, title, status } = JSON.parse(json) as TaskListItem
          return { id, title, status, similarity }
        }),
      }
    },
  }

  async function similarTo(
    { similarTasks }: Pick<BoundRepositories, 'similarTasks'>,
    { task, limit }: { task: Pick<Task, 'id' | 'projectId' | 'title'>; limit: number },
  ): Promise<{ items: SimilarTask[]; isAvailable: boolean }> {
    if (!(await similarTasks.isAvailable())) return { items: [], isAvailable: false }
    const wordGroups = pairsOf(distinctiveWords(task.title))
    const doneSince = new Date(clock.now().getTime() - DONE_MS)
    return { items: await similarTasks.list({ task, wordGroups, doneSince, limit }), isAvailable: true }
  }
}

async function latestReports(
  { tasks }: Pick<BoundRepositories, 'tasks'>,
  { id, limit }: { id: string; limit: number },
): Promise<TaskListItem[]> {
  const { sortBy, direction } = taskOrderOf({})
  const page = await tasks.list({ mergedInto: id }, { sortBy, direction, limit: limit + 1, isSummary: true })
  return itemsOf<TaskListItem>(page)
}

function countsOf({ counts, firstOpenedAt, lastOpenedAt }: Reported): ReportCounts {
  const of = (property: ReportedCount['property']) =>
    counts.filter((one) => one.property === property).map(({ name, count }) => ({ name, count }))
  return { sentiments: of('sentiment'), appVersions: of('app_version'), firstOpenedAt, lastOpenedAt }
}

type ReadTask = Pick<Task, 'id' | 'projectId' | 'title' | 'status' | 'reports'>

const ORDER = 'reports'

/** A problem that was solved in the last 90 days may be back. */
const DONE_MS = 90 * 24 * 60 * 60 * 1000
