import type { Operations } from '../../domain/operation.ts'
import { refuseMapping } from '../../domain/sources/mapping.ts'
import type { SourceReading } from '../../domain/sources/reading.ts'
import { toTemplate } from '../../domain/sources/verify.ts'
import { validationFailed } from '../../errors/index.ts'
import type { BoundRepositories, Repositories } from '../../repositories/index.ts'
import type { SourceRow } from '../../repositories/sources/sources.ts'
import type { SourcePayloadTest, SourceTest, SourceTestResult } from '../../schemas/source-delivery.ts'
import type { Caller } from '../access.ts'
import { definitionOf } from './definition.ts'
import { neverOpened } from './delivery.ts'
import type { FeedbackOfSources } from './feedback.ts'
import { eventOf, storedBytes } from './inbox.ts'
import { requireReachOf, sourceOf } from './index.ts'
import type { PayloadReader } from './reader.ts'
import { errorsOf } from './receiving.ts'

export const sourceTestOperations = {
  testGiven: { scope: 'admin' },
  test: { scope: 'admin' },
} satisfies Operations<ReturnType<typeof sourceTests>>

/** Shows what a payload would make, without changing anything. */
export function sourceTests({
  repos,
  reader,
  feedback,
}: {
  repos: Repositories
  reader: Pick<PayloadReader, 'read'>
  feedback: FeedbackOfSources
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
      if (mapping === 'feedback') return feedback.test(bytesOf(payload))
      const reading = await reader.read({ definition: definitionOf(given), bytes: bytesOf(payload) })
      return resultOf(reading, undefined)
    },

    /** @throws insufficient_scope, source_not_found, event_not_found, event_not_replayable, validation_failed */
    async test(
      caller: Caller,
      { id, payload, eventId }: SourcePayloadTest & { id: string },
    ): Promise<SourceTestResult> {
      const bound = repos.within(caller)
      const source = await sourceOf(bound, id)
      requireReachOf(caller, source)
      if ((payload === undefined) === (eventId === undefined)) throw eitherIsRequired()
      const isFeedback = source.mapping === 'feedback'
      const find = (eventId: string) =>
        isFeedback ? feedback.find({ id, eventId }) : eventOf(bound, { id, eventId })
      const bytes = eventId === undefined ? bytesOf(payload) : storedBytes(await find(eventId))
      if (isFeedback) return feedback.test(bytes)
      const reading = await reader.read({ definition: definitionOf(source), bytes })
      return resultOf(reading, await knownTasks(bound, { source, reading }))
    },
  }
}

const bytesOf = (payload: unknown) => Buffer.from(JSON.stringify(payload ?? null))

const eitherIsRequired = () =>
  validationFailed([{ path: '/payload', code: 'required', message: 'either this or eventId is required' }])

/** The ids of existing tasks by their external id. */
async function knownTasks(
  { tasks }: BoundRepositories,
  { source, reading }: { source: SourceRow; reading: SourceReading },
): Promise<Map<string | null, string>> {
  const rendered = reading.outcome === 'accepted' ? reading.tasks : []
  const ids = rendered.flatMap(({ task }) => task.externalId ?? [])
  if (ids.length === 0) return new Map()
  const rows = await tasks.listByExternalIds(null, {
    source: 'webhook',
    sourceId: source.id,
    ids,
  })
  return new Map(rows.map(({ externalId, id }) => [externalId, id]))
}

/** @param known the tasks of the source; undefined for one that does not exist yet. */
function resultOf(reading: SourceReading, known: Map<string | null, string> | undefined): SourceTestResult {
  const errors = [...(errorsOf(reading) ?? [])]
  if (reading.outcome !== 'accepted') {
    const outcome = reading.outcome === 'filtered' ? 'filtered' : 'rejected'
    return { outcome, tasks: [], filtered: 0, errors }
  }
  const seen = new Set<string>()
  const tasks = reading.tasks.flatMap(({ index, task }) => {
    const { externalId } = task
    const existingTaskId = known?.get(externalId ?? null) ?? null
    const isRepeated = externalId !== undefined && seen.has(externalId)
    const isOver = task.status === 'done' && externalId !== undefined && !existingTaskId && !isRepeated
    if (isOver && known) {
      const error = neverOpened(task)
      errors.push({ ...error, message: `item ${index}: ${error.message}` })
      return []
    }
    if (externalId !== undefined && !isOver) seen.add(externalId)
    const explanation = explain({ externalId, existingTaskId, isRepeated, isOver })
    return { item: index, task, existingTaskId, explanation }
  })
  const outcome = tasks.length > 0 ? 'accepted' : 'filtered'
  return { outcome, tasks, filtered: reading.filtered, errors: errors.slice(0, 100) }
}

function explain(about: {
  externalId: string | undefined
  existingTaskId: string | null
  isRepeated: boolean
  /** Whether it is done when it is first heard of. */
  isOver: boolean
}): string {
  const { externalId, existingTaskId, isRepeated, isOver } = about
  if (externalId === undefined) return 'Creates a task. Without an external ID, each delivery creates one.'
  if (existingTaskId) return `Updates the task with the external ID ${externalId}.`
  if (isOver) return `Completes the task with the external ID ${externalId}, and makes none if there is none.`
  if (isRepeated) return `Updates the task that an earlier item with the external ID ${externalId} creates.`
  return `Creates a task. Later deliveries with the external ID ${externalId} update it.`
}
