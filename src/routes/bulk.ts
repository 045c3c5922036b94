import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { AppError, validationFailed } from '../errors/index.ts'
import { JsonText, jsonOf } from '../lib/json-pieces.ts'
import { timeSlices } from '../lib/time-slices.ts'
import { without } from '../lib/without.ts'
import {
  BulkChange,
  BulkChanged,
  BulkCreated,
  type BulkItem,
  BulkQuery,
  BulkResults,
  BulkTasks,
} from '../schemas/bulk.ts'
import { IdempotencyKey } from '../schemas/headers.ts'
import { ref } from '../schemas/parts.ts'
import { responses } from '../schemas/responses.ts'
import type { WrittenTask } from '../schemas/task.ts'
import { NewTaskInBulk } from '../schemas/task-requests.ts'
import type { Services, UseCases } from '../services/index.ts'
import type { CreatedTask } from '../services/tasks/creation.ts'
import { taskOperations } from '../services/tasks/index.ts'
import type { WrittenItem } from '../services/tasks/left-out.ts'
import { mayReadTasks, onlyVersion } from '../services/tasks/view.ts'

const MIB = 1024 * 1024
/** A hundred tasks with metadata of the maximum size. */
const MAX_VALUES = 1_000_000

/** Creates and updates several tasks in one request. */
export const bulkRoutes: FastifyPluginAsyncTypebox<Services> = async (app, service) => {
  const refusalOf = app.compileCheck(NewTaskInBulk)

  /** The items, and the error of each invalid one. Items that were checked in the side thread are parsed here. */
  async function checkedItems(request: FastifyRequest, service: Pick<UseCases, 'tasks'>) {
    const { largeBody, caller } = request
    const { listId, tasks } = request.body as { listId: string; tasks: NewTaskInBulk[] }
    const nextSlice = timeSlices()
    const items: NewTaskInBulk[] = []
    const refusals: (AppError | undefined)[] = []
    for (const [index, given] of tasks.entries()) {
      await nextSlice()
      const { item, refusal } = largeBody?.itemAt(index) ?? {
        item: given,
        refusal: refusalOf(given, `/tasks/${index}`),
      }
      items.push(item as NewTaskInBulk)
      refusals.push(refusal)
    }
    largeBody?.free()
    const inputs = items.map((item, index) => (refusals[index] ? undefined : item))
    const pathOf = (index: number) => `/tasks/${index}`
    const blockers = await service.tasks.refusedBlockers(caller, { listId, inputs, pathOf })
    return { items, refusals: refusals.map((refusal, index) => refusal ?? blockers[index]) }
  }

  app.post(
    '',
    {
      // Room for a hundred full descriptions in UTF-8.
      bodyLimit: 32 * MIB,
      config: {
        operation: taskOperations.createMany,
        isBulk: true,
        maxValues: MAX_VALUES,
        errors: ['list_not_found', 'project_archived', 'dependency_cycle'],
      },
      schema: {
        tags: ['Tasks'],
        operationId: 'createTasksInBulk',
        summary: 'Create up to 100 tasks',
        description:
          'Creates several tasks. By default, nothing is created if any item is invalid, and the response lists the errors of all items. With `onError=continue`, the valid items are created and the response has a result for each item. With `onExisting=update`, existing tasks with the same `externalId` get the fields of their items, and stay in their list; several items for one task are applied in their order. Keys without `tasks:read` only get the `id` and `version` of each task.',
        querystring: BulkQuery,
        headers: IdempotencyKey,
        body: ref(BulkTasks),
        response: {
          201: responses(ref(BulkCreated), { description: 'All tasks, in the order of the request.' }),
          207: responses(ref(BulkResults), {
            description: 'The result for each item, with `onError=continue`.',
          }),
        },
      },
    },
    (request, reply) =>
      app.idempotently<BulkCreated | BulkResults>(
        { request, reply, restrictItems: restrictionFor(request) },
        async ({ tasks }) => {
          const { listId } = request.body
          const { items, refusals } = await checkedItems(request, { tasks })
          const isPartial = request.query.onError === 'continue'
          if (!isPartial && refusals.some(Boolean)) throw together(refusals)

          const valid = items.filter((_, index) => !refusals[index])
          const { onExisting, reopen } = request.query
          const creation = { listId, inputs: valid, onExisting, reopen }
          const outcomes = isPartial
            ? await tasks.createPossible(request.caller, creation)
            : await tasks.createMany(request.caller, creation)
          const made = outcomes.filter((outcome): outcome is CreatedTask => !(outcome instanceof AppError))
          const created = made.filter(({ isNew }) => isNew).length
          const updated = made.filter(({ isUpdated }) => isUpdated).length
          const counts = {
            created,
            existing: made.length - created - updated,
            ...(onExisting === 'update' && { updated }),
          }
          const hasEffect = created + updated > 0
          const isLong = isLongFor(made)
          if (!isPartial) {
            const body = { data: made.map(({ task }) => task), ...counts }
            const inPieces = ({ tasks }: UseCases) => ({ ...body, data: tasks.whole(request.caller, made) })
            return { status: 201, body, hasEffect, ...(isLong && { inPieces }) }
          }

          const remaining = outcomes.values()
          const results = refusals.map((refusal, index): BulkItem => {
            const outcome = refusal ?? remaining.next().value
            if (!outcome || outcome instanceof AppError) return failed(index, outcome)
            return { index, status: statusOf(outcome), task: outcome.task }
          })
          const body = { results, ...counts, failed: items.length - made.length }
          const inPieces = ({ tasks }: UseCases) => ({
            ...body,
            results: withTasks(results, tasks.whole(request.caller, made)),
          })
          return { status: 207, body, hasEffect, ...(isLong && { inPieces }) }
        },
      ),
  )

  app.patch(
    '',
    {
      config: {
        operation: taskOperations.updateMany,
        errors: [
          'task_not_found',
          'list_not_found',
          'description_read_only',
          'managed_by_codehost',
          'project_archived',
          'closed_at_codehost',
          'external_id_taken',
          'merge_conflict',
          'dependency_cycle',
        ],
      },
      schema: {
        tags: ['Tasks'],
        operationId: 'updateTasksInBulk',
        summary: 'Update up to 100 tasks',
        description:
          'Makes the same change to several tasks, with the rules of `PATCH /api/tasks/{id}`, or to none of them. If it fails, `errors` lists each ID or value with its own code, and the response has the code of the first. Tasks that the change doesn’t affect keep their version and are counted in `unchanged`. Keys without `tasks:read` only get the `id` and `version` of each task.',
        body: ref(BulkChange),
        response: { 200: responses(ref(BulkChanged), { description: 'All tasks, updated or unchanged.' }) },
      },
    },
    async ({ caller, body: { ids, change } }, reply) => {
      const { items, unchanged } = await service.tasks.updateMany(caller, { ids, change })
      if (isLongFor(items)) return reply.sendPieces({ data: service.tasks.whole(caller, items), unchanged })
      return { data: items.map(({ task }) => task), unchanged }
    },
  )
}

const statusOf = ({ isNew, isUpdated }: CreatedTask) =>
  isNew ? 'created' : isUpdated ? 'updated' : 'existing'

/** An error that names no field is one of the whole item. */
function failed(index: number, refusal: AppError | undefined): BulkItem {
  const { code = 'invalid', message = '', extras } = refusal ?? {}
  const whole = { path: `/tasks/${index}`, code, message }
  return { index, status: 'failed', errors: extras?.errors ?? [whole] }
}

/** What a replay contains for a caller without `tasks:read`. */
function restrictionFor({ caller, query }: FastifyRequest) {
  if (mayReadTasks(caller)) return undefined
  return (query as { onError?: string }).onError === 'continue'
    ? {
        itemsOf: 'results',
        replace: ({ task, ...item }: BulkItem) => ({ ...item, ...(task && { task: onlyVersion(task) }) }),
      }
    : { itemsOf: 'data', replace: onlyVersion }
}

/** Whether a response with these tasks is too long to be serialized in one go. */
const isLongFor = (items: WrittenItem[]) =>
  items.some(({ isLeftOut }) => isLeftOut) ||
  items.reduce(
    (sum, { task: { description, notes } }) => sum + (description?.length ?? 0) + (notes?.length ?? 0),
    0,
  ) > MIB

/** The results with these tasks in place of their own, in the same order. */
async function* withTasks(
  results: BulkItem[],
  tasks: AsyncGenerator<WrittenTask | JsonText>,
): AsyncGenerator<BulkItem | JsonText> {
  for (const result of results) {
    if (!result.task) {
      yield result
      continue
    }
    const rest = JSON.stringify(without(result, ['task']))
    yield new JsonText(`${rest.slice(0, -1)},"task":${jsonOf((await tasks.next()).value)}}`)
  }
}

/** One error for the whole batch, with those of all items. */
function together(refusals: (AppError | undefined)[]): AppError {
  return validationFailed(
    refusals.flatMap((refusal) => refusal?.extras.errors ?? []),
    refusals.reduce((sum, refusal) => sum + (refusal?.extras.errorsOmitted ?? 0), 0),
  )
}
