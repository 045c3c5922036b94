import { changesBetween, isNoChange } from '../domain/changes.ts'
import { idsOf, placed } from '../domain/list-order.ts'
import { listIsDefault, listNotEmpty, listNotFound, projectNotFound, validationFailed } from '../errors.ts'
import type { BoundRepositories, Repositories } from '../repositories/index.ts'
import { everywhere } from '../repositories/index.ts'
import type { ListRow } from '../repositories/lists.ts'
import type { List, ListChange, ListQuery, NewList } from '../schemas/list.ts'
import type { Caller } from './access.ts'
import { actorOf, entry } from './activity-entry.ts'
import type { Clock } from './clock.ts'
import { pageByPosition } from './page.ts'
import { writableProject } from './projects.ts'

/** So many tasks move in one statement, so that none outlasts the time a statement has. */
const MOVED_AT_ONCE = 1_000

/** So many pending changes one fold takes: about a tenth of a second. */
const FOLDED_AT_ONCE = 10_000

/** Lists. Whatever changes which there are or their order does so under the lock of their project. */
export function listsService({ repos, clock }: { repos: Repositories; clock: Clock }) {
  return {
    async create(caller: Caller, projectId: string, { name, position }: NewList): Promise<List> {
      return repos.within(caller).transaction(async (repos) => {
        const project = await writableProject(repos, projectId)
        const present = await repos.lists.listForUpdate(project.id)
        const now = clock.now()
        const id = clock.newId(now)
        const order = placed(idsOf(present), id, position)
        const row = {
          id,
          projectId: project.id,
          name,
          position: order.indexOf(id),
          isDefault: false,
          openCount: 0,
          createdAt: now,
        }
        await repos.lists.insert(row)
        await repos.lists.reorder(order)
        await record(repos, 'list.created', caller, row, now, { position: row.position })
        await repos.configurationChanges.announceProject(project.id)
        return toList(row)
      })
    },

    /** By position. */
    async list(caller: Caller, projectId: string, query: ListQuery) {
      const bound = repos.within(caller)
      if (!(await bound.projects.find(projectId))) throw projectNotFound(projectId)
      const { data, nextCursor } = await pageByPosition('lists', query, (after, limit) =>
        bound.lists.listCounted(projectId, { after, limit }),
      )
      return { data: data.map(toList), nextCursor }
    },

    async get(caller: Caller, id: string): Promise<List> {
      return counted(repos.within(caller), id)
    },

    async update(caller: Caller, id: string, { name, position }: ListChange): Promise<List> {
      return repos.within(caller).transaction(async (repos) => {
        const { list, lists } = await lockedList(repos, id)
        const order = position === undefined ? idsOf(lists) : placed(idsOf(lists), list.id, position)
        const changed = { ...list, name: name ?? list.name, position: order.indexOf(list.id) }
        const changes = changesBetween(list, changed, ['name', 'position'])
        if (changes.name) await repos.lists.update(list.id, { name: changed.name })
        if (position !== undefined) await repos.lists.reorder(order)
        if (!isNoChange(changes)) {
          await record(repos, 'list.updated', caller, changed, clock.now(), { changes })
          await repos.configurationChanges.announceProject(list.projectId)
        }
        return counted(repos, list.id)
      })
    },

    /** Its tasks go to `moveTo`. Hidden ones move along; without it, to the default list. */
    async delete(caller: Caller, id: string, moveTo: string | undefined): Promise<void> {
      await repos.within(caller).transaction(async (repos) => {
        const target = moveTo === undefined ? undefined : await targetOf(repos, id, moveTo)
        const { list, lists } = await lockedList(repos, id)
        if (list.isDefault) throw listIsDefault(list.name)
        const heir = lists.find((other) => (target ? other.id === target.id : other.isDefault))
        if (!heir) throw listNotFound(moveTo ?? 'by default')
        await repos.lists.close([list.id])
        if (target) {
          await moveTasks(repos, caller, list, heir)
          await repos.codehost.moveList(list.id, heir.id)
        } else if (await repos.tasks.hasAnyIn(list.id)) throw listNotEmpty(list.name)
        await repos.tasks.moveHidden(list.id, heir.id)
        await repos.lists.delete(list)
        await repos.lists.reorder(idsOf(lists).filter((other) => other !== list.id))
        await record(repos, 'list.deleted', caller, list, clock.now(), { moveTo: target?.id ?? null })
        await repos.configurationChanges.announceProject(list.projectId)
      })
    },

    /** Adds what writes have left behind to the counts of their lists. For the worker, every few seconds. */
    async foldOpenCounts(): Promise<void> {
      const { lists } = repos.within(everywhere)
      while ((await lists.foldCountChanges(FOLDED_AT_ONCE)) === FOLDED_AT_ONCE);
    },
  }

  /** Activity of a change, in its transaction. */
  function record(
    repos: BoundRepositories,
    type: string,
    caller: Caller,
    { id, name, projectId }: ListRow,
    now: Date,
    more: Record<string, unknown>,
  ) {
    const about = { projectId, metadata: { listId: id, name, ...more } }
    return repos.activity.insert([entry(clock, now, type, actorOf(caller), about)])
  }

  async function moveTasks(repos: BoundRepositories, caller: Caller, from: ListRow, to: ListRow) {
    const { projectId } = from
    const now = clock.now()
    const by = actorOf(caller)
    const metadata = { changes: { listId: { from: from.id, to: to.id } } }
    for (let isMore = true; isMore; ) {
      const ids = await repos.tasks.moveSome(from.id, to.id, now, MOVED_AT_ONCE)
      await repos.activity.insert(
        ids.map((taskId) => entry(clock, now, 'task.updated', by, { taskId, projectId, metadata })),
      )
      isMore = ids.length === MOVED_AT_ONCE
    }
  }
}

/** Locks a list that may be written to, with its project, its neighbours, and what sends tasks to it. */
async function lockedList(repos: BoundRepositories, id: string) {
  const seen = await repos.lists.find(id)
  if (!seen) throw listNotFound(id)
  await writableProject(repos, seen.projectId)
  await repos.codehost.findForUpdate(seen.projectId)
  const lists = await repos.lists.listForUpdate(seen.projectId)
  const list = lists.find((list) => list.id === seen.id)
  if (!list) throw listNotFound(id)
  return { list, lists }
}

/** The list that is to take the tasks of another. */
async function targetOf(repos: BoundRepositories, id: string, moveTo: string): Promise<ListRow> {
  const list = await repos.lists.find(id)
  if (!list) throw listNotFound(id)
  const target = await repos.lists.find(moveTo)
  if (!target) throw listNotFound(moveTo)
  if (target.id === list.id) throw wrongTarget('must be another list than the one to be deleted')
  if (target.projectId !== list.projectId) throw wrongTarget('must be a list of the same project')
  return target
}

const wrongTarget = (message: string) =>
  validationFailed([{ path: 'query.moveTo', code: 'not_allowed', message }])

async function counted({ lists }: Pick<BoundRepositories, 'lists'>, id: string): Promise<List> {
  const row = await lists.findCounted(id)
  if (!row) throw listNotFound(id)
  return toList(row)
}

const toList = (row: ListRow): List => ({
  id: row.id,
  projectId: row.projectId,
  name: row.name,
  position: row.position,
  isDefault: row.isDefault,
  openCount: row.openCount,
  createdAt: row.createdAt.toISOString(),
})
