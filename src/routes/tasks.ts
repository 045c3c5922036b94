import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { etagOf } from '../lib/etag.ts'
import { preferredType } from '../lib/preferred-type.ts'
import { serialized } from '../plugins/pages.ts'
import { TaskPatch } from '../schemas/claim-requests.ts'
import { IdempotencyKey, IfMatch } from '../schemas/headers.ts'
import { IdPath, ref } from '../schemas/parts.ts'
import { ETag, emptyResponse, Location, responses } from '../schemas/responses.ts'
import { Task, TaskPage, WrittenTask } from '../schemas/task.ts'
import { TaskQuery } from '../schemas/task-query.ts'
import { CreateQuery, NewTask } from '../schemas/task-requests.ts'
import type { Services } from '../services/index.ts'
import type { CreatedTask } from '../services/tasks/creation.ts'
import { taskOperations } from '../services/tasks/index.ts'
import { mayReadTasks, onlyVersion } from '../services/tasks/view.ts'
import { writeBackOperations } from '../services/write-back/index.ts'

const tags = ['Tasks']

/** Creates, returns, updates, deletes and restores tasks. */
export const tasksRoutes: FastifyPluginAsyncTypebox<Services> = async (app, service) => {
  const { listCsv, tasks, writeBack } = service

  app.post(
    '',
    {
      config: {
        operation: taskOperations.create,
        errors: ['list_not_found', 'project_archived', 'task_not_found', 'dependency_cycle'],
      },
      schema: {
        tags,
        operationId: 'createTask',
        summary: 'Create a task',
        description:
          'Creates a task, or returns the existing one with the same `externalId`, project and source, even for concurrent requests. With `onExisting=update`, an existing task gets the fields of the request, `listId` included; omitted fields keep their values, and so does the version if nothing changes. The dashboard shows the description as read-only. Keys without `tasks:read` only get `id` and `version`.',
        querystring: CreateQuery,
        headers: IdempotencyKey,
        body: ref(NewTask),
        response: {
          200: responses(ref(WrittenTask), {
            description: 'The existing task with this `externalId`, updated if you asked for it.',
            headers: { etag: ETag },
          }),
          201: responses(ref(WrittenTask), {
            description: 'The created task.',
            headers: { etag: ETag, location: Location },
          }),
        },
      },
    },
    (request, reply) =>
      app.withIdempotencyKey(
        { request, reply, responseOf, restrict: mayReadTasks(request.caller) ? undefined : onlyVersion },
        (idempotencyKey) =>
          tasks.create(request.caller, { input: request.body, ...request.query, idempotencyKey }),
      ),
  )

  app.get(
    '',
    {
      config: {
        operation: taskOperations.list,
        isLong: isCsvPreferred,
        errors: ['invalid_cursor', 'project_not_found', 'list_not_found', 'person_required'],
      },
      schema: {
        tags,
        operationId: 'listTasks',
        summary: 'List tasks',
        description:
          'Returns a page of tasks that match all filters. Repeat a filter to match any of several values. With `Accept: text/csv`, returns all of them as CSV for spreadsheets, in UTF-8 with a byte order mark. `limit`, `cursor` and `count` have no effect then. Texts that a spreadsheet would take for a formula begin with an apostrophe.',
        querystring: TaskQuery,
        // CSV is only in the description: in generated clients, every page would be a page or a text.
        response: { 200: responses(TaskPage, { description: 'A page of tasks.' }) },
      },
    },
    async (request, reply) => {
      const { caller, query } = request
      if (!isCsvPreferred(request)) return reply.sendPage(await tasks.list(caller, query))
      const lines = await listCsv(caller, query)
      return reply.headers(CSV_HEADERS).sendText(lines)
    },
  )

  app.get(
    '/:id',
    {
      config: { operation: taskOperations.get, errors: ['task_not_found'] },
      schema: {
        tags,
        operationId: 'getTask',
        summary: 'Retrieve a task',
        description: 'Returns a task, with its version as the ETag.',
        params: IdPath('task'),
        response: { 200: responses(ref(Task), { description: 'The task.', headers: { etag: ETag } }) },
      },
    },
    async (request, reply) => {
      const { json } = reply.withVersion(await tasks.get(request.caller, request.params.id))
      return serialized<Task>(reply, json)
    },
  )

  app.patch(
    '/:id',
    {
      config: {
        operation: taskOperations.update,
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
          'claim_lost',
          'version_mismatch',
        ],
      },
      schema: {
        tags,
        operationId: 'updateTask',
        summary: 'Update a task',
        description:
          'Updates the given fields. If nothing changes, the version stays the same. Fields that belong to the code host or came with feedback can’t be changed; `notes` always can. With `claimNumber`, the task is updated only while your claim lasts (otherwise 409 `claim_lost`). `done` and `open` end the claim of the task. Keys without `tasks:read` only get `id` and `version`.',
        params: IdPath('task'),
        headers: IfMatch,
        body: ref(TaskPatch),
        response: {
          200: responses(ref(WrittenTask), { description: 'The updated task.', headers: { etag: ETag } }),
        },
      },
    },
    async (request, reply) => {
      const { caller, params, body } = request
      const { claimNumber, ...change } = body
      const allowed = request.allowedVersions()
      return reply.withVersion(await tasks.update(caller, { ...params, change, claimNumber, allowed }))
    },
  )

  app.delete(
    '/:id',
    {
      config: {
        operation: taskOperations.delete,
        errors: ['task_not_found', 'project_archived', 'merge_conflict', 'version_mismatch'],
      },
      schema: {
        tags,
        operationId: 'deleteTask',
        summary: 'Delete a task',
        description:
          'Deletes the task. It can be restored for 30 days; then it is permanently deleted. A task that others are merged into can’t be deleted.',
        params: IdPath('task'),
        headers: IfMatch,
        response: { 204: emptyResponse('The task is deleted.') },
      },
    },
    async (request, reply) => {
      await tasks.delete(request.caller, { id: request.params.id, allowed: request.allowedVersions() })
      return reply.status(204).send(null)
    },
  )

  app.post(
    '/:id/restore',
    {
      config: {
        operation: taskOperations.restore,
        errors: ['task_not_found', 'project_archived', 'external_id_taken'],
      },
      schema: {
        tags,
        operationId: 'restoreTask',
        summary: 'Restore a deleted task',
        description:
          'Restores a task that was deleted in the last 30 days. If it isn’t deleted, returns it unchanged. If it was merged into a task that was deleted, merged or moved to another project since, it isn’t merged any more. Keys without `tasks:read` only get `id` and `version`.',
        params: IdPath('task'),
        response: {
          200: responses(ref(WrittenTask), { description: 'The restored task.', headers: { etag: ETag } }),
        },
      },
    },
    async (request, reply) => reply.withVersion(await tasks.restore(request.caller, request.params.id)),
  )

  app.post(
    '/:id/write-back/retry',
    {
      config: {
        operation: writeBackOperations.retry,
        errors: ['task_not_found', 'project_archived', 'nothing_to_retry'],
      },
      schema: {
        tags,
        operationId: 'retryWriteBack',
        summary: 'Retry writing to the code host',
        description:
          'Retries what could not be written to the code host, and what waits for its next attempt. It is retried at once, unless the last request got no response and may still take effect: then up to 45 seconds later, at `writeBack.nextAttemptAt`. Keys without `tasks:read` only get `id` and `version`.',
        params: IdPath('task'),
        response: {
          200: responses(ref(WrittenTask), { description: 'The task.', headers: { etag: ETag } }),
        },
      },
    },
    async (request, reply) => reply.withVersion(await writeBack.retry(request.caller, request.params.id)),
  )
}

/** An existing task that was not changed is a response without an effect. */
function responseOf({ task, isNew, isUpdated }: CreatedTask) {
  const etag = etagOf(task)
  if (!isNew) return { status: 200, headers: { etag }, body: task, hasEffect: isUpdated }
  return { status: 201, headers: { etag, location: `/api/tasks/${task.id}` }, body: task }
}

const isCsvPreferred = ({ headers }: Pick<FastifyRequest, 'headers'>) =>
  preferredType(headers.accept, ['application/json', 'text/csv']) === 'text/csv'

const CSV_HEADERS = {
  'content-type': 'text/csv; charset=utf-8',
  'content-disposition': 'attachment; filename="tasks.csv"',
  vary: 'accept',
}
