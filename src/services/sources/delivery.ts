import type { ItemTask } from '../../domain/sources/reading.ts'
import type { FieldError } from '../../errors/index.ts'
import type { Clock } from '../../lib/clock.ts'
import type { ListedDelivery, SourceDeliveryRow } from '../../repositories/deliveries/store.ts'
import type { BoundRepositories } from '../../repositories/index.ts'
import type { DestinationRow } from '../../repositories/lists.ts'
import type { SourceRow } from '../../repositories/sources/sources.ts'
import type {
  RenderedTask,
  SourceIgnored,
  SourcePending,
  SourceReceipt,
} from '../../schemas/source-delivery.ts'
import { tasksIn } from '../deliveries/index.ts'
import type { StoredReceipt } from '../deliveries/receiver.ts'
import { type JudgedItem, judgeItems, rememberItems, resultIn } from './repeats.ts'
import { type LockedProjects, type StoredItem, sourceTaskWriter, type WrittenItem } from './tasks.ts'

/** A delivery that makes tasks. */
export interface Accepted {
  source: Pick<SourceRow, 'id' | 'name' | 'projectId' | 'listId' | 'slowDeliveries'>
  row: SourceDeliveryRow
  tasks: ItemTask[]
}

interface Deliveries {
  deliveries: Accepted[]
  projects: LockedProjects
  /** When they arrived, if that was not just now. */
  sentAt?: Date | undefined
}

/** A delivery with at least one item that is not a repeat. */
interface NewDelivery extends Accepted {
  items: JudgedItem[]
  destination: DestinationRow
}

type Receipts = Map<string, StoredReceipt>

/**
 * Stores deliveries with their tasks, in a transaction that has locked the projects and the sources. Those to archived
 * projects make none. Returns the responses in the same order.
 */
export function deliveryWriter({ clock }: { clock: Clock }) {
  const writeTasks = sourceTaskWriter({ clock })

  return async function deliverAll(repos: BoundRepositories, given: Deliveries): Promise<StoredReceipt[]> {
    const { deliveries, projects } = given
    await clearSlow(repos, deliveries)
    const { open = [], archived = [] } = Object.groupBy(deliveries, ({ source }) =>
      projects.get(source.projectId) ? 'open' : 'archived',
    )
    await repos.deliveries.insert(archived.map(({ row }) => omittedRow(row)))
    const receipts = await deliver(repos, { ...given, deliveries: open })
    return deliveries.map(({ row }) => receipts.get(row.id) ?? ARCHIVED)
  }

  async function deliver(
    repos: BoundRepositories,
    { deliveries, projects, sentAt }: Deliveries,
  ): Promise<Receipts> {
    const unknown = await storeIdentified(repos, deliveries)
    const judged = await judgeItems(repos, { deliveries: unknown, sentAt })
    const news: NewDelivery[] = []
    for (const delivery of unknown) {
      const items = judged.get(delivery.row.id) ?? []
      if (!items.some(({ isNew }) => isNew)) continue
      const { source } = delivery
      const same = news.find((one) => one.source.id === source.id)
      const destination = same?.destination ?? (await destinationOf(repos, source))
      news.push({ ...delivery, items, destination })
    }
    await repos.deliveries.insert(news.flatMap(({ row }) => (row.dedupKey === null ? row : [])))
    const receipts = await writeNew(repos, { news, projects, sentAt })
    // What is omitted may be sent again with its id, so its key is stored no longer.
    const omitted = new Map(news.map(({ row }) => [row.dedupKey, receipts.get(row.id)]))
    for (const { row } of deliveries) {
      const sameId = row.dedupKey === null ? undefined : omitted.get(row.dedupKey)
      const receipt =
        receipts.get(row.id) ??
        (sameId?.accepted === false ? sameId : undefined) ??
        (await repeatOf(repos, { row, items: judged.get(row.id) }))
      receipts.set(row.id, receipt)
    }
    return receipts
  }

  async function writeNew(
    repos: BoundRepositories,
    { news, projects, sentAt }: Omit<Deliveries, 'deliveries'> & { news: NewDelivery[] },
  ): Promise<Receipts> {
    // Changes of tasks have the order in which they are made.
    const at = sentAt && clock.now()
    const written = await writeTasks(repos, {
      projects,
      items: news.flatMap(({ source, row, destination, items }) =>
        items
          .filter(({ isNew }) => isNew)
          .map(({ item }) => ({ source, destination, rendered: item.task, now: at ?? row.receivedAt })),
      ),
    })
    const receipts: Receipts = new Map()
    const stored: Parameters<BoundRepositories['deliveries']['updateTasks']>[0] = []
    for (const { row, items, destination } of news) {
      const tasks = items.flatMap(({ item, isNew, latest }) => {
        const result = isNew ? written.shift() : undefined
        const task = result && resultIn(latest, result)
        const { taskId } = latest
        return taskId === null ? [] : { item: item.index, taskId, created: task?.created ?? false }
      })
      const omitted = items.filter(({ latest }) => latest.taskId === null)
      const { listId, projectId } = destination
      const left = omitted.length > 0 ? omittedRow(row, { tasks, omitted }) : row
      if (left !== row) await repos.deliveries.update(row.id, left)
      if (tasks.length > 0) stored.push({ id: row.id, listId, tasks, outcome: outcomeWith(tasks) })
      receipts.set(
        row.id,
        tasks.length > 0 ? receiptOf(left, { tasks, projectId, listId }) : ignoredFor(omitted),
      )
    }
    await repos.deliveries.updateTasks(stored)
    await rememberItems(repos, {
      judged: news.map(({ source, items }) => ({ sourceId: source.id, items })),
      sentAt,
    })
    return receipts
  }
}

/**
 * Stores the deliveries that their senders give an id. Returns those that are not known: of the others, only an earlier
 * attempt of the same delivery is, whose result was lost.
 */
async function storeIdentified(repos: BoundRepositories, deliveries: Accepted[]): Promise<Accepted[]> {
  const { identified = [], others = [] } = Object.groupBy(deliveries, ({ row }) =>
    row.dedupKey === null ? 'others' : 'identified',
  )
  const inserted = await repos.deliveries.insert(identified.map(({ row }) => row))
  const present = await repos.deliveries.listPresent(others.map(({ row }) => row.id))
  return deliveries.filter(({ row: { id, dedupKey } }) =>
    dedupKey === null ? !present.has(id) : inserted.has(id),
  )
}

/** The source's list, or the default list of its project. */
export async function destinationOf(
  { lists }: BoundRepositories,
  { projectId, listId }: Pick<SourceRow, 'projectId' | 'listId'>,
): Promise<DestinationRow> {
  const destination =
    (listId ? await lists.findDestination(listId) : undefined) ?? (await lists.findDefaultOf(projectId))
  if (!destination) throw new Error('The project has no default list.')
  return destination
}

/** The templates of these were rendered in time. */
export const clearSlow = ({ sources }: BoundRepositories, deliveries: Pick<Accepted, 'source'>[]) =>
  sources.clearSlow(deliveries.flatMap(({ source }) => (source.slowDeliveries > 0 ? source.id : [])))

/** The response to a delivery whose id is known, or whose items all are. */
export async function repeatOf(
  { deliveries }: BoundRepositories,
  {
    row: { id, dedupKey },
    items = [],
  }: { row: Pick<SourceDeliveryRow, 'id' | 'dedupKey'>; items?: JudgedItem[] | undefined },
): Promise<StoredReceipt> {
  const latest = items.flatMap(({ latest: { taskId, deliveryId } }) =>
    taskId && deliveryId ? { taskId, deliveryId, created: false } : [],
  )
  if (items.length > 0 && latest.length === 0) return ignoredFor(items)
  const first =
    (await firstOf(deliveries, { id, dedupKey, latestId: latest[0]?.deliveryId ?? id })) ??
    (await deliveries.countRepeat(id, { exceptId: id }))
  if (first?.outcome === 'pending') return pendingReceipt(first, { duplicate: first.id !== id })
  // An earlier attempt of this delivery, of which all was omitted.
  if (first?.outcome === 'filtered') return FILTERED
  if (first?.outcome === 'rejected') return ARCHIVED
  if (!first?.projectId || !first.listId) throw new Error('A delivery was neither stored nor found.')
  const { projectId, listId } = first
  const isWhole = latest.every(({ deliveryId }) => deliveryId === first.id)
  const tasks = isWhole ? tasksIn(first) : latest
  return { ...receiptOf(first, { tasks, projectId, listId }), duplicate: first.id !== id }
}

/** Counts a repeat of the delivery that has the key, or else of the latest one of its items. */
async function firstOf(
  deliveries: BoundRepositories['deliveries'],
  { id, dedupKey, latestId }: { id: string; dedupKey: string | null; latestId: string },
): Promise<ListedDelivery | undefined> {
  if (dedupKey === null) return deliveries.countRepeat(latestId, { exceptId: id })
  const [first] = await deliveries.countRepeats(new Map([[dedupKey, 1]]), [id])
  return first
}

/** What a delivery is that has tasks. */
export const outcomeWith = (tasks: WrittenItem[]) =>
  tasks.some(({ created }) => created) ? ('accepted' as const) : ('updated' as const)

/** Cast: only this service writes the column of such deliveries. */
export const storedTasksIn = ({ tasks }: Pick<SourceDeliveryRow, 'tasks'>) => tasks as StoredItem[]

/** Cast: only values of `errorsOf` and of this file are written to the column. */
const errorsIn = ({ errors }: Pick<SourceDeliveryRow, 'errors'>) => (errors ?? []) as FieldError[]

function receiptOf(
  event: Pick<SourceDeliveryRow, 'id' | 'errors'>,
  { tasks, ...place }: Pick<SourceReceipt, 'projectId' | 'listId'> & { tasks: WrittenItem[] },
): SourceReceipt {
  const errors = errorsIn(event)
  return {
    accepted: true,
    deliveryId: event.id,
    taskId: tasks[0]?.taskId ?? '',
    tasks: tasksIn({ tasks }),
    ...place,
    duplicate: false,
    ...(errors.length > 0 && { errors }),
  }
}

export const pendingReceipt = (
  { id }: Pick<SourceDeliveryRow, 'id'>,
  { duplicate }: Pick<SourcePending, 'duplicate'>,
): SourcePending => ({ accepted: true, outcome: 'pending', deliveryId: id, duplicate })

const ARCHIVED: SourceIgnored = { accepted: false, reason: 'project_archived' }
const FILTERED: SourceIgnored = { accepted: false, reason: 'filtered' }

const isArchived = ({ latest }: JudgedItem) => latest.omitted !== 'never_opened'

/** The response to a delivery whose items have all been omitted. */
const ignoredFor = (omitted: JudgedItem[]) => (omitted.some(isArchived) ? ARCHIVED : FILTERED)

/** What is stored of a delivery of which items were omitted; without any, its project is archived. */
export function omittedRow(
  row: SourceDeliveryRow,
  { tasks, omitted = [] }: { tasks: StoredItem[]; omitted?: JudgedItem[] } = { tasks: [] },
): SourceDeliveryRow {
  const reasons = omitted.map((judged) => {
    const error = isArchived(judged) ? PROJECT_ARCHIVED : neverOpened(judged.item.task)
    return { ...error, message: `item ${judged.item.index}: ${error.message}` }
  })
  const errors = [...errorsIn(row), ...reasons].slice(0, 100)
  if (tasks.length > 0) return { ...row, errors: errors.length > 0 ? errors : null }
  return {
    ...row,
    outcome: omitted.length > 0 && !omitted.some(isArchived) ? 'filtered' : 'rejected',
    dedupKey: null,
    errors: errors.length > 0 ? errors : [PROJECT_ARCHIVED],
  }
}

const PROJECT_ARCHIVED: FieldError = {
  path: '',
  code: 'project_archived',
  message: 'The project is archived. Unarchive it, and replay this.',
}

/** Why an item makes no task that is done when it is first heard of. */
export const neverOpened = ({ externalId }: RenderedTask): FieldError => ({
  path: '/template/status',
  code: 'never_opened',
  message: `is done, and there is no task with the external ID ${externalId} to complete`,
})
