import type { SourceReading } from '../../domain/sources/reading.ts'
import { dedupKeyOf, isOfBody, SAME_BODY_MS, storedDeliveryId } from '../../domain/sources/repeats.ts'
import { invalidSender, isUnavailable, notJson, validationFailed } from '../../errors/index.ts'
import { batcher } from '../../lib/batcher.ts'
import type { Clock } from '../../lib/clock.ts'
import { type BoundRepositories, everywhere, type Repositories } from '../../repositories/index.ts'
import type { DestinationRow } from '../../repositories/lists.ts'
import type { SourceEventRow } from '../../repositories/sources/events.ts'
import type { SourceRow } from '../../repositories/sources/sources.ts'
import type { SourceIgnored, SourceReceipt } from '../../schemas/source-delivery.ts'
import { retryDecision } from '../retry-decision.ts'
import { definitionOf } from './definition.ts'
import type { PayloadReader } from './reader.ts'
import { countSlow } from './slow.ts'
import { type ItemWrite, type StoredItem, sourceTaskWriter, storedItems, type WrittenItem } from './tasks.ts'

const MIB = 1024 * 1024

/** The source that a delivery is for. */
export type SourceTarget = Pick<
  SourceRow,
  'id' | 'name' | 'projectId' | 'listId' | 'each' | 'filter' | 'template' | 'slowDeliveries'
>

/** A verified delivery with its time and ids: it can be stored again after an error. */
export interface SourceDelivery {
  source: SourceTarget
  row: SourceEventRow
  reading: SourceReading
  bytes: number
}

/** The receiver of the sources: stores each delivery and writes its tasks in one transaction, in batches. */
export function sourceReceiver({
  repos,
  clock,
  reader,
}: {
  repos: Repositories
  clock: Clock
  reader: PayloadReader
}) {
  const { sourceEvents } = repos.within(everywhere)
  const writeTasks = sourceTaskWriter({ clock })
  const deliver = batcher((deliveries: Accepted[]) => sourceEvents.redacted(() => deliverAll(deliveries)), {
    name: 'store deliveries of sources',
    maxItems: 50,
    // Two at a time, so that PostgreSQL works while this process prepares the next.
    concurrency: 2,
    maxBytes: 2 * MIB,
    bytesOf: ({ bytes }) => bytes,
    isForAll: isUnavailable,
  })

  return {
    /** Renders the templates on a payload, and assigns time and ids. */
    async deliveryOf(
      source: SourceTarget,
      { bytes, deliveryId }: { bytes: Buffer; deliveryId: string | null },
    ): Promise<SourceDelivery> {
      const reading = await reader.read({ definition: definitionOf(source), bytes }, source.id)
      const receivedAt = clock.now()
      const row = eventRow({ id: clock.newId(receivedAt), source, receivedAt, reading, deliveryId })
      return { source, row, reading, bytes: bytes.length }
    },

    /**
     * Stores a delivery; returns after the commit. Can be retried with the same delivery.
     * @throws invalid_json, validation_failed, invalid_credentials if the source was deleted meanwhile; unavailable: then
     * retry
     */
    async receive({ reading, ...delivery }: SourceDelivery): Promise<SourceReceipt | SourceIgnored> {
      if (reading.outcome === 'accepted') return deliver({ ...delivery, tasks: reading.tasks })
      await sourceEvents.redacted(() =>
        repos.within(everywhere).transaction(async (repos) => {
          await lockSources(repos, [delivery])
          await repos.sourceEvents.insert([delivery.row])
          if (reading.outcome === 'rejected' && reading.isTooSlow) {
            await countSlow(repos, { clock, source: delivery.source })
          } else await clearSlow(repos, [delivery])
        }),
      )
      if (reading.outcome === 'filtered') return { accepted: false, reason: 'filtered' }
      if (reading.outcome === 'unreadable') throw notJson(reading.readUpTo)
      throw validationFailed(reading.errors)
    },
  }

  async function deliverAll(deliveries: Accepted[]): Promise<(SourceReceipt | SourceIgnored)[]> {
    return retryDecision(() =>
      repos.within(everywhere).transaction(async (repos) => {
        const open = await lockProjects(repos, deliveries)
        await lockSources(repos, deliveries)
        await clearSlow(repos, deliveries)
        await releaseBodies(repos, deliveries)
        const isOpen = ({ source }: Accepted) => open.has(source.projectId)
        const inserted = await repos.sourceEvents.insert(
          deliveries.map((delivery) => (isOpen(delivery) ? delivery.row : archivedRow(delivery.row))),
        )
        const fresh = deliveries.filter((delivery) => isOpen(delivery) && inserted.has(delivery.row.id))
        const written = await writeFresh(repos, fresh)
        const receipts: (SourceReceipt | SourceIgnored)[] = []
        for (const delivery of deliveries) {
          if (!isOpen(delivery)) receipts.push({ accepted: false, reason: 'project_archived' })
          else receipts.push(written.get(delivery.row.id) ?? (await repeatOf(repos, delivery)))
        }
        return receipts
      }),
    )
  }

  async function writeFresh(
    repos: BoundRepositories,
    fresh: Accepted[],
  ): Promise<Map<string, SourceReceipt>> {
    const receipts = new Map<string, SourceReceipt>()
    if (fresh.length === 0) return receipts
    const destinations = new Map<string, DestinationRow>()
    for (const { source } of fresh) {
      if (!destinations.has(source.id)) destinations.set(source.id, await destinationOf(repos, source))
    }
    const items = fresh.flatMap(({ source, row, tasks }) =>
      tasks.map(({ task }): ItemWrite => {
        const destination = destinations.get(source.id) as DestinationRow
        return { source, destination, rendered: task, now: row.receivedAt }
      }),
    )
    const results = await writeTasks(repos, items)
    const events = fresh.map(({ source, row, tasks }) => {
      const written = results.splice(0, tasks.length)
      const { listId, projectId } = destinations.get(source.id) as DestinationRow
      receipts.set(row.id, receiptOf({ eventId: row.id, tasks: written, projectId, listId }))
      return { id: row.id, tasks: storedItems(tasks, written), listId }
    })
    await repos.sourceEvents.updateTasks(events)
    return receipts
  }
}

interface Accepted {
  source: SourceTarget
  row: SourceEventRow
  bytes: number
  tasks: Extract<SourceReading, { outcome: 'accepted' }>['tasks']
}

/** Locks the projects, in the order in which they are locked everywhere; returns those that are not archived. */
async function lockProjects({ projects }: BoundRepositories, deliveries: Accepted[]): Promise<Set<string>> {
  const open = new Set<string>()
  for (const id of [...new Set(deliveries.map(({ source }) => source.projectId))].sort()) {
    const project = await projects.findForShare(id)
    if (project && !project.archivedAt) open.add(id)
  }
  return open
}

/** @throws invalid_credentials if one was deleted */
async function lockSources(
  { sources }: BoundRepositories,
  deliveries: Pick<SourceDelivery, 'source'>[],
): Promise<void> {
  const ids = [...new Set(deliveries.map(({ source }) => source.id))]
  const present = await sources.listForShare(ids)
  if (present.size < ids.length) throw invalidSender()
}

/** The templates of these were rendered in time. */
const clearSlow = ({ sources }: BoundRepositories, deliveries: { source: SourceTarget }[]) =>
  sources.clearSlow(deliveries.flatMap(({ source }) => (source.slowDeliveries > 0 ? source.id : [])))

/** A body that was last sent long ago is a new event. */
async function releaseBodies({ sourceEvents }: BoundRepositories, deliveries: Accepted[]): Promise<void> {
  const bodies = deliveries.flatMap(({ row: { sourceId, dedupKey } }) =>
    dedupKey && isOfBody(dedupKey) ? [{ sourceId, dedupKey }] : [],
  )
  const now = deliveries[0]?.row.receivedAt
  if (bodies.length > 0 && now) {
    await sourceEvents.releaseKeys(bodies, new Date(now.getTime() - SAME_BODY_MS))
  }
}

/** The source's list, or the default list of its project. */
export async function destinationOf(
  { lists }: BoundRepositories,
  { projectId, listId }: Pick<SourceTarget, 'projectId' | 'listId'>,
): Promise<DestinationRow> {
  const destination =
    (listId ? await lists.findDestination(listId) : undefined) ?? (await lists.findDefaultOf(projectId))
  if (!destination) throw new Error('The project has no default list.')
  return destination
}

async function repeatOf(
  { sourceEvents }: BoundRepositories,
  { row: { id, sourceId, dedupKey } }: Accepted,
): Promise<SourceReceipt> {
  // A row with this id was inserted by the delivery itself, in an attempt whose result was lost.
  const first = await sourceEvents.countRepeat({ sourceId, dedupKey: dedupKey ?? '' }, { exceptId: id })
  if (!first?.projectId || !first.listId) throw new Error('A delivery was neither stored nor found.')
  const { projectId, listId } = first
  const receipt = receiptOf({ eventId: first.id, tasks: tasksIn(first), projectId, listId })
  return { ...receipt, duplicate: first.id !== id }
}

/** Cast: only this service writes the column. */
export const storedTasksIn = ({ tasks }: Pick<SourceEventRow, 'tasks'>) => tasks as StoredItem[]

/** As the interface returns them. */
export const tasksIn = (row: Pick<SourceEventRow, 'tasks'>): WrittenItem[] =>
  storedTasksIn(row).map(({ taskId, created }) => ({ taskId, created }))

function receiptOf({
  tasks,
  ...ids
}: Pick<SourceReceipt, 'eventId' | 'projectId' | 'listId'> & { tasks: WrittenItem[] }): SourceReceipt {
  return { accepted: true, ...ids, taskId: tasks[0]?.taskId ?? '', tasks, duplicate: false }
}

/** An inbox row, before its tasks are written. */
function eventRow({
  id,
  source,
  receivedAt,
  reading,
  ...sent
}: {
  id: string
  source: SourceTarget
  receivedAt: Date
  reading: SourceReading
  deliveryId: string | null
}): SourceEventRow {
  const isAccepted = reading.outcome === 'accepted'
  const deliveryId = storedDeliveryId(sent.deliveryId)
  return {
    id,
    sourceId: source.id,
    dedupKey: isAccepted ? dedupKeyOf({ deliveryId, bodyHash: reading.bodyHash }) : null,
    deliveryId,
    outcome: reading.outcome === 'unreadable' ? 'rejected' : reading.outcome,
    duplicates: 0,
    receivedAt,
    projectId: isAccepted ? source.projectId : null,
    listId: null,
    tasks: [],
    errors: errorsOf(reading),
    ...reading.stored,
  }
}

export function errorsOf(reading: SourceReading) {
  if (reading.outcome === 'filtered') return null
  if (reading.outcome === 'unreadable') {
    return [{ path: '', code: 'invalid_json', message: `is not JSON from position ${reading.readUpTo}` }]
  }
  return reading.errors.length > 0 ? reading.errors : null
}

const archivedRow = (row: SourceEventRow): SourceEventRow => ({
  ...row,
  outcome: 'rejected',
  dedupKey: null,
  projectId: null,
  errors: [
    {
      path: '',
      code: 'project_archived',
      message: 'The project is archived. Unarchive it, and replay this.',
    },
  ],
})
