import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { etagOf } from '../lib/etag.ts'
import { IdempotencyKey, IfMatch } from '../schemas/headers.ts'
import { IdPath, ref } from '../schemas/parts.ts'
import { ETag, emptyResponse, Location, responses } from '../schemas/responses.ts'
import { NewTask, Task, TaskChange, TaskPage, TaskQuery, WrittenTask } from '../schemas/task.ts'
import type { Services } from '../services/index.ts'
import { taskOperations } from '../services/tasks/index.ts'
import { mayReadTasks, onlyVersion } from '../services/tasks/view.ts'

const tags = ['Tasks']

/** Create, read, change, hide and restore tasks. */
export const tasksRoutes: FastifyPluginAsyncTypebox<Services> = async (app, service) => {
  const { tasks } = service

  app.post(
    '',
    {
      config: { operation: taskOperations.create, mistakes: ['list_not_found', 'project_archived'] },
      schema: {
        tags,
        operationId: 'createTask',
        summary: 'Create a task',
        description:
          'Makes a task, or answers the one that is here under the same `externalId` in the same project and source, also when requests race. The dashboard shows the description as read-only. Without `tasks:read` the answer is `id` and `version` alone.',
        headers: IdempotencyKey,
        body: ref(NewTask),
        response: {
          200: responses(ref(WrittenTask), 'The task that was here under this `externalId`.', { etag: ETag }),
          201: responses(ref(WrittenTask), 'The task that was made.', { etag: ETag, location: Location }),
        },
      },
    },
    (request, reply) =>
      app.idempotently(
        { request, reply, restrict: mayReadTasks(request.caller) ? undefined : onlyVersion },
        async ({ tasks }) => {
          const { task, isNew } = await tasks.create(request.caller, request.body)
          const etag = etagOf(task)
          if (!isNew) return { status: 200, headers: { etag }, body: task, hasEffect: false }
          return { status: 201, headers: { etag, location: `/api/tasks/${task.id}` }, body: task }
        },
      ),
  )

  app.get(
    '',
    {
      config: {
        operation: taskOperations.list,
        mistakes: ['invalid_cursor', 'project_not_found', 'list_not_found'],
      },
      schema: {
        tags,
        operationId: 'listTasks',
        summary: 'List tasks',
        description:
          'One page of the tasks that pass all filters. A repeated filter means any of its values; different filters all have to hold.',
        querystring: TaskQuery,
        response: { 200: responses(TaskPage, 'A page of tasks.') },
      },
    },
    async (request, reply) => reply.sendPage(await tasks.list(request.caller, request.query)),
  )

  app.get(
    '/:id',
    {
      config: { operation: taskOperations.get, mistakes: ['task_not_found'] },
      schema: {
        tags,
        operationId: 'getTask',
        summary: 'Read a task',
        description: 'Answers one task whole, with its version as ETag.',
        params: IdPath('task'),
        response: { 200: responses(ref(Task), 'The task.', { etag: ETag }) },
      },
    },
    async (request, reply) => reply.withVersion(await tasks.get(request.caller, request.params.id)),
  )

  app.patch(
    '/:id',
    {
      config: {
        operation: taskOperations.update,
        mistakes: [
          'task_not_found',
          'list_not_found',
          'description_read_only',
          'managed_by_codehost',
          'project_archived',
          'external_id_taken',
          'version_mismatch',
        ],
      },
      schema: {
        tags,
        operationId: 'updateTask',
        summary: 'Change a task',
        description:
          'Changes what is named and leaves the rest. A change of nothing makes no new version. What belongs to the code host or came with the feedback cannot be changed here; `notes` always can. Without `tasks:read` the answer is `id` and `version` alone.',
        params: IdPath('task'),
        headers: IfMatch,
        body: ref(TaskChange),
        response: { 200: responses(ref(WrittenTask), 'The task as it is now.', { etag: ETag }) },
      },
    },
    async (request, reply) => {
      const allowed = request.allowedVersions()
      return reply.withVersion(await tasks.update(request.caller, request.params.id, request.body, allowed))
    },
  )

  app.delete(
    '/:id',
    {
      config: {
        operation: taskOperations.delete,
        mistakes: ['task_not_found', 'project_archived', 'version_mismatch'],
      },
      schema: {
        tags,
        operationId: 'deleteTask',
        summary: 'Delete a task',
        description: 'Hides the task at once and for 30 days, in which it can be restored; then it is gone.',
        params: IdPath('task'),
        headers: IfMatch,
        response: { 204: emptyResponse('It is hidden.') },
      },
    },
    async (request, reply) => {
      await tasks.delete(request.caller, request.params.id, request.allowedVersions())
      return reply.status(204).send(null)
    },
  )

  app.post(
    '/:id/restore',
    {
      config: {
        operation: taskOperations.restore,
        mistakes: ['task_not_found', 'project_archived', 'external_id_taken'],
      },
      schema: {
        tags,
        operationId: 'restoreTask',
        summary: 'Restore a deleted task',
        description:
          'Brings back a task that was deleted in the last 30 days. One that is not deleted is answered as it is. Without `tasks:read` the answer is `id` and `version` alone.',
        params: IdPath('task'),
        response: { 200: responses(ref(WrittenTask), 'The task, back again.', { etag: ETag }) },
      },
    },
    async (request, reply) => reply.withVersion(await tasks.restore(request.caller, request.params.id)),
  )
}
