import { readDelivery } from '../../domain/feedback/reading.ts'
import type { Operations } from '../../domain/operation.ts'
import { refuseMapping } from '../../domain/sources/mapping.ts'
import type { SourceReading } from '../../domain/sources/reading.ts'
import { isReopening } from '../../domain/sources/tasks.ts'
import { toTemplate } from '../../domain/sources/verify.ts'
import { deliveryNotFound, notJson, validationFailed } from '../../errors/index.ts'
import type { DeliveryRow } from '../../repositories/deliveries/store.ts'
import { type BoundRepositories, everywhere, type Repositories } from '../../repositories/index.ts'
import type { SourceRow } from '../../repositories/sources/sources.ts'
import type { TaskRow } from '../../repositories/tasks.ts'
import type { SourcePayloadTest, SourceTest, SourceTestResult } from '../../schemas/source-delivery.ts'
import type { Caller } from '../access.ts'
import { tasksIn } from '../deliveries/index.ts'
import { FEEDBACK_LIST, type routingService } from '../feedback/routing.ts'
import { definitionOf } from './definition.ts'
import { neverOpened, storedTasksIn } from './delivery.ts'
import { findSource, requireReachOf } from './index.ts'
import type { PayloadReader } from './reader.ts'
import { errorsOf } from './receiving.ts'
import { storedBytes } from './replay.ts'

export const sourceTestOperations = {
  testGiven: { scope: 'admin' },
  test: { scope: 'admin' },
} satisfies Operations<ReturnType<typeof sourceTests>>

/** Shows what a payload would make, without changing anything. */
export function sourceTests({
  repos,
  reader,
  routing,
}: {
  repos: Repositories
  reader: Pick<PayloadReader, 'read'>
  routing: Pick<ReturnType<typeof routingService>, 'test'>
}) {
  return {
    /**
     * With a source that does not exist yet.
     * @throws insufficient_scope, validation_failed
     */
    async testGiven(caller: Caller, { source, payload }: SourceTest): Promise<SourceTestResult> {
      const { mapping = 'template', each = null, filter = null, clears = [] } = source
      const given = { mapping, each, filter, clears, template: toTemplate(source.template) }
      requireReachOf(caller, given)
      refuseMapping(given)
      if (mapping === 'feedback') return testFeedback(bytesOf(payload))
      const reading = await reader.read({ definition: definitionOf(given), bytes: bytesOf(payload) })
      return resultOf(reading, undefined)
    },

    /** @throws insufficient_scope, source_not_found, delivery_not_found, delivery_not_replayable, validation_failed */
    async test(
      caller: Caller,
      { id, payload, deliveryId }: SourcePayloadTest & { id: string },
    ): Promise<SourceTestResult> {
      const bound = repos.within(caller)
      const source = await findSource(bound, id)
      requireReachOf(caller, source)
      if ((payload === undefined) === (deliveryId === undefined)) throw eitherIsRequired()
      const delivery = deliveryId === undefined ? undefined : await deliveryOf(bound, { id, deliveryId })
      const bytes = delivery ? storedBytes(delivery) : bytesOf(payload)
      if (source.mapping === 'feedback') return testFeedback(bytes)
      const reading = await reader.read({ definition: definitionOf(source), bytes })
      return resultOf(reading, await knownTasks(bound, { source, delivery, reading }))
    },
  }

  /** The task that an event would make, and where. */
  async function testFeedback(bytes: Uint8Array): Promise<SourceTestResult> {
    const reading = readDelivery(bytes)
    if (reading.outcome === 'unreadable') throw notJson(reading.readUpTo)
    if (reading.outcome === 'ignored') return { outcome: 'filtered', tasks: [], filtered: 0, errors: [] }
    if (reading.outcome === 'rejected')
      return { outcome: 'rejected', tasks: [], filtered: 0, errors: reading.errors }
    const { dedupKey, task } = reading.event
    const { title, description, priority, labels } = task
    const { explanation } = await routing.test(bytes)
    const [before] = await repos.within(everywhere).deliveries.listByKeys([dedupKey])
    const tested = {
      item: 0,
      task: { title, ...(description !== null && { description }), priority, labels },
      existingTaskId: (before && tasksIn(before)[0]?.taskId) ?? null,
      reopens: false,
      explanation: before ? explanation : `Creates a task in the list “${FEEDBACK_LIST}”. ${explanation}`,
    }
    return { outcome: 'accepted', tasks: [tested], filtered: 0, errors: [] }
  }
}

/** @throws delivery_not_found */
async function deliveryOf(
  { deliveries }: Pick<BoundRepositories, 'deliveries'>,
  { id, deliveryId }: { id: string; deliveryId: string },
): Promise<DeliveryRow> {
  const row = await deliveries.find(deliveryId)
  if (row?.sourceId !== id) throw deliveryNotFound(deliveryId)
  return row
}

const bytesOf = (payload: unknown) => Buffer.from(JSON.stringify(payload ?? null))

const eitherIsRequired = () =>
  validationFailed([{ path: '/payload', code: 'required', message: 'either this or deliveryId is required' }])

/** The tasks that items would update, by the position of the item. */
type KnownTasks = Map<number, Record<'task' | 'target', TaskRow | undefined>>

async function knownTasks(
  { tasks }: BoundRepositories,
  {
    source,
    delivery,
    reading,
  }: { source: SourceRow; delivery: DeliveryRow | undefined; reading: SourceReading },
): Promise<KnownTasks> {
  const rendered = reading.outcome === 'accepted' ? reading.tasks : []
  const externalIds = rendered.flatMap(({ task }) => task.externalId ?? [])
  const named = await tasks.listByExternalIds(null, {
    source: 'webhook',
    sourceId: source.id,
    ids: externalIds,
    texts: [],
  })
  const items = delivery ? storedTasksIn(delivery) : []
  const own = await tasks.listByIds(items.map(({ taskId }) => taskId))
  const targets = await tasks.listByIds([...named, ...own].flatMap(({ mergedInto }) => mergedInto ?? []))
  return new Map(
    rendered.flatMap(({ index, task: { externalId } }) => {
      const taskId = items.find(({ item }) => item === index)?.taskId
      const task =
        own.find(({ id }) => id === taskId) ??
        named.find((task) => externalId !== undefined && task.externalId === externalId)
      return task ? [[index, { task, target: targets.find(({ id }) => id === task.mergedInto) }]] : []
    }),
  )
}

/** @param known the tasks of the source; undefined for one that does not exist yet. */
function resultOf(reading: SourceReading, known: KnownTasks | undefined): SourceTestResult {
  const errors = [...(errorsOf(reading) ?? [])]
  if (reading.outcome !== 'accepted') {
    const outcome = reading.outcome === 'filtered' ? 'filtered' : 'rejected'
    return { outcome, tasks: [], filtered: 0, errors }
  }
  const seen = new Set<string>()
  const tasks = reading.tasks.flatMap(({ index, task }) => {
    const { externalId } = task
    const existing = known?.get(index)
    const existingTaskId = existing?.task?.id ?? null
    const isRepeated = externalId !== undefined && seen.has(externalId)
    const isOver = task.status === 'done' && externalId !== undefined && !existing && !isRepeated
    if (isOver && known) {
      const error = neverOpened(task)
      errors.push({ ...error, message: `item ${index}: ${error.message}` })
      return []
    }
    if (externalId !== undefined && !isOver) seen.add(externalId)
    const reopens = existing !== undefined && isReopening(task, existing)
    const explanation = explain({ externalId, existing, reopens, isRepeated, isOver })
    return { item: index, task, existingTaskId, reopens, explanation }
  })
  const outcome = tasks.length > 0 ? 'accepted' : 'filtered'
  return { outcome, tasks, filtered: reading.filtered, errors: errors.slice(0, 100) }
}

interface Explained {
  externalId: string | undefined
  existing: Record<'task' | 'target', TaskRow | undefined> | undefined
  reopens: boolean
  isRepeated: boolean
  /** Whether it is done when it is first heard of. */
  isOver: boolean
}

function explain({ externalId, existing, reopens, isRepeated, isOver }: Explained): string {
  if (existing?.task) {
    const { task, target } = existing
    const named = externalId === undefined ? `“${task.title}”` : `with the external ID ${externalId}`
    if (!reopens) return `Updates the task ${named}.`
    return target
      ? `Updates the task ${named}, and reopens “${target.title}”, which it is merged into and which is done.`
      : `Reopens the task ${named}, which is done.`
  }
  if (externalId === undefined) return 'Creates a task. Without an external ID, each delivery creates one.'
  if (isOver) return `Completes the task with the external ID ${externalId}, and makes none if there is none.`
  if (isRepeated) return `Updates the task that an earlier item with the external ID ${externalId} creates.`
  return `Creates a task. Later deliveries with the external ID ${externalId} update it.`
}
