import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { AppError } from '../errors/index.ts'
import { timeSlices } from '../lib/time-slices.ts'
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
import { NewTaskInBulk } from '../schemas/task-requests.ts'
import type { Services } from '../services/index.ts'
import { itemPath } from '../services/tasks/bulk-creation.ts'
import type { CreatedTask } from '../services/tasks/creation.ts'
import { taskOperations } from '../services/tasks/index.ts'
import { mayReadTasks, onlyVersion, summaryOf } from '../services/tasks/view.ts'

const MIB = 1024 * 1024
/** As many as fifty tasks with as much metadata as they can have. */
const MAX_VALUES = 440_000

/** Creates and updates several tasks in one request. */
export const bulkRoutes: FastifyPluginAsyncTypebox<Services> = async (app, service) => {
  const refusalOf = app.compileCheck(NewTaskInBulk)

  /** Each item, or why it is invalid: only the rest of the body was checked. */
  async function checkedItems(items: NewTaskInBulk[]): Promise<(NewTaskInBulk | AppError)[]> {
    const nextSlice = timeSlices()
    const checked: (NewTaskInBulk | AppError)[] = []
    for (const [index, item] of items.entries()) {
      await nextSlice()
      checked.push(refusalOf(item, itemPath(index)) ?? item)
    }
    return checked
  }

  app.post(
    '',
    {
      bodyLimit: 4 * MIB,
      config: {
        operation: taskOperations.createMany,
        maxValues: MAX_VALUES,
        tooLargeAdvice: 'Send fewer tasks in one request.',
        errors: ['list_not_found', 'project_archived', 'dependency_cycle'],
      },
      schema: {
        tags: ['Tasks'],
        operationId: 'createTasksInBulk',
        summary: 'Create up to 100 tasks',
        description:
          'Creates several tasks. By default, nothing is created if any item is invalid, and the response lists the errors of all items. With `onError=continue`, the valid items are created and the response has a result for each item. With `onExisting=update`, existing tasks with the same `externalId` get the fields of their items, and stay in their list; several items for one task are applied in their order. The tasks are returned without description, notes and metadata. Keys without `tasks:read` only get the `id` and `version` of each task.',
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
        { request, reply, restrict: restrictionFor(request) },
        async ({ tasks }) => {
          const { listId, tasks: items } = request.body
          const { onExisting, reopen, onError } = request.query
          const inputs = await checkedItems(items)
          const isPartial = onError === 'continue'
          const creation = { listId, inputs, isPartial, onExisting, reopen }
          const outcomes = await tasks.createMany(request.caller, creation)
          const made = outcomes.filter((outcome): outcome is CreatedTask => !(outcome instanceof AppError))
          const created = made.filter(({ isNew }) => isNew).length
          const updated = made.filter(({ isUpdated }) => isUpdated).length
          const counts = {
            created,
            existing: made.length - created - updated,
            ...(onExisting === 'update' && { updated }),
          }
          const hasEffect = created + updated > 0
          if (!isPartial) {
            const data = made.map(({ task }) => summaryOf(task))
            return { status: 201, body: { data, ...counts }, hasEffect }
          }

          const results = outcomes.map(
            (outcome, index): BulkItem =>
              outcome instanceof AppError
                ? failed(index, outcome)
                : { index, status: statusOf(outcome), task: summaryOf(outcome.task) },
          )
          return { status: 207, body: { results, ...counts, failed: items.length - made.length }, hasEffect }
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
          'comment_not_found',
        ],
      },
      schema: {
        tags: ['Tasks'],
        operationId: 'updateTasksInBulk',
        summary: 'Update up to 100 tasks',
        description:
          'Makes the same change to several tasks, with the rules of `PATCH /api/tasks/{id}`, or to none of them. If it fails, `errors` lists each ID or value with its own code, and the response has the code of the first. Tasks that the change doesn’t affect keep their version and are counted in `unchanged`. The tasks are returned without description, notes and metadata. Keys without `tasks:read` only get the `id` and `version` of each task.',
        body: ref(BulkChange),
        response: { 200: responses(ref(BulkChanged), { description: 'All tasks, updated or unchanged.' }) },
      },
    },
    async ({ caller, body: { ids, change } }) => {
      const { tasks, unchanged } = await service.tasks.updateMany(caller, { ids, change })
      return { data: tasks, unchanged }
    },
  )
}

const statusOf = ({ isNew, isUpdated }: CreatedTask) =>
  isNew ? 'created' : isUpdated ? 'updated' : 'existing'

/** An error that names no field is one of the whole item. */
function failed(index: number, { code, message, extras }: AppError): BulkItem {
  return { index, status: 'failed', errors: extras.errors ?? [{ path: itemPath(index), code, message }] }
}

/** What a replay contains for a caller without `tasks:read`. */
const restrictionFor = ({ caller }: FastifyRequest) => (mayReadTasks(caller) ? undefined : onlyVersions)

function onlyVersions(body: BulkCreated | BulkResults): BulkCreated | BulkResults {
  if ('data' in body) return { ...body, data: body.data.map(onlyVersion) }
  const results = body.results.map(({ task, ...item }) => ({
    ...item,
    ...(task && { task: onlyVersion(task) }),
  }))
  return { ...body, results }
}
