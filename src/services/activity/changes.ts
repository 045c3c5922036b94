import { type ChangePosition, decodeChangeCursor, encodeChangeCursor } from '../../domain/change-cursor.ts'
import { MAX_PAGE_BYTES } from '../../domain/cursor.ts'
import type { Operations } from '../../domain/operation.ts'
import { AppError, invalidChangeCursor, projectNotFound, tooManyLongPolls } from '../../errors/index.ts'
import { semaphore } from '../../lib/semaphore.ts'
import type { BoundRepositories, Repositories } from '../../repositories/index.ts'
import type { Activity } from '../../schemas/activity.ts'
import type { ChangesQuery } from '../../schemas/changes.ts'
import type { Caller } from '../access.ts'
import { type AdmissionDeps, admission } from './admission.ts'
import { type ActivityFeed, type FeedFilter, MAX_POSITIONS, type StreamEvent, toEvent } from './feed.ts'
import type { Sequencer } from './sequencer.ts'

interface ChangesDeps extends Omit<AdmissionDeps, 'limit'> {
  repos: Repositories
  feed: Pick<ActivityFeed, 'subscribe'>
  sequencer: Pick<Sequencer, 'catchUp'>
  /** In this process. Each costs a few kilobytes. */
  maxLongPolls?: number
}

/** A page of changes. */
export interface ChangesJson {
  /** As JSON text, separated by commas. */
  items: string
  nextCursor: string
  hasMore: boolean
}

/** Some changes, and where the next ones begin. */
export interface SomeChanges {
  items: ChangeItem[]
  next: ChangePosition
  hasMore: boolean
}

/** A change as JSON text. */
export interface ChangeItem {
  position: number
  json: string
}

interface ChangesReading {
  after: ChangePosition
  filter: FeedFilter
  limit: number
}

/** When a change comes, all of them may read tasks: they use at most this many connections of the pool. */
const MAX_CONCURRENT_READS = 3
/** An activity has up to 32 KB. */
const MAX_AT_ONCE = 50

export const changesOperations = {
  list: { scope: 'tasks:read' },
} satisfies Operations<ReturnType<typeof changesService>>

/** The activity log for programs: every change once, in an order that never changes. */
export function changesService({
  repos,
  feed,
  sequencer,
  access,
  checkMs,
  maxLongPolls = 1_000,
}: ChangesDeps) {
  const limitReads = semaphore(MAX_CONCURRENT_READS)
  const endWithAccess = admission({ access, checkMs, limit: limitReads })
  let longPolls = 0

  return {
    /**
     * Returns changes after a cursor. Without one, it begins now, or at the oldest. If there are none, waits for one, until
     * `ending` is aborted.
     * @throws invalid_cursor, project_not_found; invalid_credentials if the caller loses access meanwhile
     */
    async list(
      caller: Caller,
      { query, ending }: { query: ChangesQuery; ending: AbortController },
    ): Promise<ChangesJson> {
      const { projectId, type: types, limit = 50, wait = 0, include } = query
      const bound = repos.within(caller)
      if (projectId && !(await bound.projects.find(projectId))) throw projectNotFound(projectId)
      const filter = { projectIds: projectId ? [projectId] : caller.projectIds, types }
      const { end } = await sequencer.catchUp()
      const reading = { after: startOf(query, end), filter, limit }
      const found = await (wait > 0 ? limitReads(() => read(reading, end)) : read(reading, end))
      const some =
        wait === 0 || found.items.length > 0 || found.hasMore
          ? found
          : await waitFor(caller, { reading: { ...reading, after: found.next }, ms: wait * 1_000, ending })
      return include ? pageOf(await withTasks(bound, some)) : pageOf(some)
    },
  }

  function startOf({ cursor, from }: ChangesQuery, end: ChangePosition): ChangePosition {
    if (cursor === undefined) return from === 'start' ? { epoch: end.epoch, position: 0 } : end
    const after = decodeChangeCursor(cursor)
    // A position that was not given yet is of a database that has lost changes.
    if (!after || after.epoch !== end.epoch || after.position > end.position) throw invalidChangeCursor()
    return after
  }

  /** Reads a bounded number of positions: if few changes match, a page may be empty and not the last. */
  async function read({ after, filter, limit }: ChangesReading, end: ChangePosition): Promise<SomeChanges> {
    const items: ChangeItem[] = []
    const to = Math.min(end.position, after.position + MAX_POSITIONS)
    let position = after.position
    for (let bytes = 0; position < to && items.length < limit && bytes < MAX_PAGE_BYTES; ) {
      const count = Math.min(limit - items.length, MAX_AT_ONCE)
      const rows = await repos.changes.list({ after: position, to, ...filter, limit: count })
      position = rows.length < count ? to : (rows.at(-1)?.position ?? to)
      for (const row of rows) {
        const { data } = toEvent(row, { epoch: end.epoch, position: row.position })
        items.push({ position: row.position, json: data })
        bytes += Buffer.byteLength(data)
        if (bytes < MAX_PAGE_BYTES) continue
        position = row.position
        break
      }
    }
    return { items, next: { epoch: end.epoch, position }, hasMore: position < end.position }
  }

  interface Waiting {
    reading: ChangesReading
    ms: number
    ending: AbortController
  }

  async function waitFor(caller: Caller, { reading, ms, ending }: Waiting): Promise<SomeChanges> {
    if (longPolls >= maxLongPolls) throw tooManyLongPolls(maxLongPolls)
    longPolls++
    endWithAccess(caller, ending)
    try {
      return await nextChanges(reading, { ms, ending })
    } finally {
      longPolls--
      // Ends the subscription.
      ending.abort()
    }
  }

  async function nextChanges(
    { after, filter, limit }: ChangesReading,
    { ms, ending }: Omit<Waiting, 'reading'>,
  ): Promise<SomeChanges> {
    const deadline = performance.now() + ms
    const { signal } = ending
    const none = (next: ChangePosition) => ({ items: [], next, hasMore: false })
    const subscription = await feed.subscribe(filter, ending)
    if (subscription.start.epoch !== after.epoch) throw invalidChangeCursor()
    // What came before the subscription is not in it.
    const before = await limitReads(() => read({ after, filter, limit }, subscription.start))
    if (before.items.length > 0 || before.hasMore) return before
    while (!signal.aborted) {
      const left = Math.max(0, deadline - performance.now())
      // Before the events: all of them up to here are in what follows.
      const position = subscription.position()
      const changes = (await subscription.next(left)).filter(isChange)
      if (changes.length > 0) return firstOf(changes, { limit, epoch: after.epoch })
      if (left === 0) return none(position)
    }
    if (signal.reason instanceof AppError) throw signal.reason
    return none(before.next)
  }

  async function withTasks(
    bound: ReturnType<Repositories['within']>,
    some: SomeChanges,
  ): Promise<SomeChanges> {
    const items = await limitReads(() => itemsWithTasks(bound, some.items))
    const last = items.at(-1)
    if (!last || items.length === some.items.length) return { ...some, items }
    return { items, next: { ...some.next, position: last.position }, hasMore: true }
  }
}

type Change = StreamEvent & { position: number }

const isChange = (event: StreamEvent): event is Change => event.position !== undefined

function firstOf(changes: Change[], { limit, epoch }: { limit: number; epoch: string }): SomeChanges {
  const items: ChangeItem[] = []
  let bytes = 0
  for (const { position, data } of changes.slice(0, limit)) {
    items.push({ position, json: data })
    bytes += Buffer.byteLength(data)
    if (bytes >= MAX_PAGE_BYTES) break
  }
  const position = items.at(-1)?.position ?? 0
  return { items, next: { epoch, position }, hasMore: changes.length > items.length }
}

const pageOf = ({ items, next, hasMore }: SomeChanges): ChangesJson => ({
  items: items.map(({ json }) => json).join(','),
  nextCursor: encodeChangeCursor(next),
  hasMore,
})

/**
 * Adds to each change its task as it is now, or null if there is none that the caller can read. Returns as many changes as
 * a page has room for, at least the first: a task may have 150 KB, and all changes of a page may be of one task.
 */
async function itemsWithTasks(
  { tasks }: Pick<BoundRepositories, 'tasks'>,
  items: ChangeItem[],
): Promise<ChangeItem[]> {
  const taskIds = items.map(taskIdOf)
  const { items: found, unread } = await tasks.listJson([...new Set(taskIds)].filter((id) => id !== null))
  const whole: ChangeItem[] = []
  let bytes = 0
  for (const [index, { position, json }] of items.entries()) {
    const id = taskIds[index] ?? null
    if (bytes >= MAX_PAGE_BYTES || (id !== null && unread.has(id))) break
    const task = (id !== null && found.get(id)) || 'null'
    const item = `${json.slice(0, -1)},"task":${task}}`
    whole.push({ position, json: item })
    bytes += Buffer.byteLength(item)
  }
  return whole
}

/** Cast: it is the JSON of an activity. */
const taskIdOf = ({ json }: ChangeItem): string | null => (JSON.parse(json) as Activity).taskId
