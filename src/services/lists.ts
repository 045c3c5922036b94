import { changesBetween, isNoChange } from '../domain/changes.ts'
import { orderById, orderByPosition } from '../domain/cursor.ts'
import { idsOf, insertAt } from '../domain/list-order.ts'
import type { Operations } from '../domain/operation.ts'
import { listNotFound, projectNotFound } from '../errors/index.ts'
import type { BoundRepositories } from '../repositories/index.ts'
import type { ListRow } from '../repositories/lists.ts'
import type { List, ListChange, ListQuery, NewList } from '../schemas/list.ts'
import type { Caller } from './access.ts'
import { changeLog } from './activity/row.ts'
import type { DeletionDeps } from './large-deletions.ts'
import { listDeletionsOf } from './list-deletions.ts'
import { lockedList } from './list-locks.ts'
import { readPage } from './page.ts'
import { writableProject } from './writable-project.ts'

export const listOperations = {
  create: { scope: 'tasks:write' },
  list: { scope: 'tasks:read' },
  listAll: { scope: 'tasks:read' },
  get: { scope: 'tasks:read' },
  names: { scope: 'tasks:read' },
  update: { scope: 'tasks:write' },
  delete: { scope: 'tasks:write' },
} satisfies Operations<ReturnType<typeof listsService>>

/** Lists. Their number and order change only under the lock of their project. */
export function listsService({ repos, clock, ...limits }: DeletionDeps) {
  const deletions = listDeletionsOf({ repos, clock, ...limits })

  const log = changeLog(clock)

  return {
    /** @throws project_not_found, project_archived */
    async create(
      caller: Caller,
      { projectId, list: { name, position } }: { projectId: string; list: NewList },
    ): Promise<List> {
      return repos.within(caller).transaction(async (repos) => {
        const project = await writableProject(repos, { id: projectId, lock: 'update' })
        const present = await repos.lists.listForUpdate(project.id)
        const now = clock.now()
        const id = clock.newId(now)
        const order = insertAt(idsOf(present), { id, position })
        const row = {
          id,
          projectId: project.id,
          name,
          position: order.indexOf(id),
          isDefault: false,
          openCount: 0,
          isClosing: false,
          createdAt: now,
        }
        await repos.lists.insert(row)
        await repos.lists.reorder(order)
        await record(repos, {
          type: 'list.created',
          caller,
          list: row,
          now,
          details: { position: row.position },
        })
        await repos.configurationChanges.announceProject(project.id)
        return toList(row)
      })
    },

    /**
     * By position.
     * @throws project_not_found
     */
    async list(caller: Caller, { projectId, query }: { projectId: string; query: ListQuery }) {
      const bound = repos.within(caller)
      if (!(await bound.projects.find(projectId))) throw projectNotFound(projectId)
      const { data, nextCursor } = await readPage({
        order: orderByPosition('lists'),
        request: query,
        read: (after, limit) => bound.lists.listCounted(projectId, { after, limit }),
      })
      return { data: data.map(toList), nextCursor }
    },

    /** Of all projects that are not archived, by creation. */
    async listAll(caller: Caller, query: ListQuery) {
      const bound = repos.within(caller)
      const { data, nextCursor } = await readPage({
        order: orderById('all lists'),
        request: query,
        read: (after, limit) => bound.lists.listAllCounted({ after, limit }),
      })
      return { data: data.map(toList), nextCursor }
    },

    /** @throws list_not_found */
    async get(caller: Caller, id: string): Promise<List> {
      return counted(repos.within(caller), id)
    },

    /** The names of lists, by id; of those that exist. */
    async names(caller: Caller, ids: string[]): Promise<ReadonlyMap<string, string>> {
      return new Map(ids.length > 0 ? await repos.within(caller).lists.listNames(ids) : [])
    },

    /** @throws list_not_found, project_archived */
    async update(
      caller: Caller,
      { id, change: { name, position } }: { id: string; change: ListChange },
    ): Promise<List> {
      return repos.within(caller).transaction(async (repos) => {
        const { list, lists } = await lockedList(repos, id)
        const order =
          position === undefined ? idsOf(lists) : insertAt(idsOf(lists), { id: list.id, position })
        const changed = { ...list, name: name ?? list.name, position: order.indexOf(list.id) }
        const changes = changesBetween({ before: list, after: changed, names: ['name', 'position'] })
        if (changes.name) await repos.lists.update(list.id, { name: changed.name })
        if (position !== undefined) await repos.lists.reorder(order)
        if (!isNoChange(changes)) {
          await record(repos, {
            type: 'list.updated',
            caller,
            list: changed,
            now: clock.now(),
            details: { changes },
          })
          await repos.configurationChanges.announceProject(list.projectId)
        }
        return counted(repos, list.id)
      })
    },

    /**
     * Deletes a list. Its tasks move to `moveTo`; without it, only deleted ones may be left, and go to the default list.
     * @returns the list, if it is so large that the worker deletes the rest.
     * @throws list_not_found, list_is_default, list_not_empty, project_archived, validation_failed
     */
    async delete(
      caller: Caller,
      { id, moveTo }: { id: string; moveTo?: string | undefined },
    ): Promise<List | undefined> {
      if (await deletions.delete(caller, { id, moveTo })) return undefined
      const row = await repos.within(caller).lists.findCounted(id)
      return row && toList(row)
    },

    /** Continues deletions in the background, one batch per call; returns whether there is more to do. */
    workOnDeletions: deletions.work,
  }

  /** Logs a change, in its transaction. */
  function record(
    repos: BoundRepositories,
    { type, caller, list: { id, name, projectId }, now, details }: RecordedChange,
  ) {
    const about = { projectId, metadata: { listId: id, name, ...details } }
    return log(repos, { now, type, caller, ...about })
  }
}

/** A change as the activity log gets it. */
interface RecordedChange {
  type: string
  caller: Caller
  list: ListRow
  now: Date
  details: Record<string, unknown>
}

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
