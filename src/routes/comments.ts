import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import {
  Comment,
  CommentChange,
  CommentPage,
  CommentQuery,
  NewComment,
  WrittenComment,
} from '../schemas/comment.ts'
import { IdempotencyKey } from '../schemas/headers.ts'
import { IdPath, ref } from '../schemas/parts.ts'
import { emptyResponse, Location, responses } from '../schemas/responses.ts'
import { commentOperations, onlyId } from '../services/comments.ts'
import type { Services } from '../services/index.ts'
import { mayReadTasks } from '../services/tasks/view.ts'

const tags = ['Comments']

/** Comments on tasks. */
export const commentsRoutes: FastifyPluginAsyncTypebox<Services> = async (app, service) => {
  const { comments } = service

  app.post(
    '/tasks/:id/comments',
    {
      config: {
        operation: commentOperations.create,
        errors: ['task_not_found', 'project_archived', 'task_done', 'merge_conflict'],
      },
      schema: {
        tags,
        operationId: 'createComment',
        summary: 'Create a comment',
        description:
          'Adds a comment to a task. `commentCount` of the task increases; its version stays the same, unless the comment asks or answers. With `needsAnswer`, the task has a `question` and isn’t ready, and its claim ends, whoever has made it. Any comment over REST, from a person, or from the code host answers it. Keys without `tasks:read` only get `id`.',
        params: IdPath('task'),
        headers: IdempotencyKey,
        body: ref(NewComment),
        response: {
          201: responses(ref(WrittenComment), {
            description: 'The created comment.',
            headers: { location: Location },
          }),
        },
      },
    },
    (request, reply) =>
      app.idempotently(
        { request, reply, restrict: mayReadTasks(request.caller) ? undefined : onlyId },
        async ({ comments }) => {
          const { params, body } = request
          const comment = await comments.create(request.caller, { taskId: params.id, comment: body })
          return { status: 201, headers: { location: `/api/comments/${comment.id}` }, body: comment }
        },
      ),
  )

  app.get(
    '/tasks/:id/comments',
    {
      config: { operation: commentOperations.list, errors: ['task_not_found', 'invalid_cursor'] },
      schema: {
        tags,
        operationId: 'listComments',
        summary: 'List the comments on a task',
        description: 'Returns a page of the comments on a task, oldest first.',
        params: IdPath('task'),
        querystring: CommentQuery,
        response: { 200: responses(CommentPage, { description: 'A page of comments.' }) },
      },
    },
    (request) => comments.list(request.caller, { taskId: request.params.id, query: request.query }),
  )

  app.get(
    '/comments/:id',
    {
      config: { operation: commentOperations.get, errors: ['comment_not_found'] },
      schema: {
        tags,
        operationId: 'getComment',
        summary: 'Retrieve a comment',
        description: 'Returns a comment.',
        params: IdPath('comment'),
        response: { 200: responses(ref(Comment), { description: 'The comment.' }) },
      },
    },
    (request) => comments.get(request.caller, request.params.id),
  )

  app.patch(
    '/comments/:id',
    {
      config: {
        operation: commentOperations.update,
        errors: ['comment_not_found', 'insufficient_scope', 'managed_by_codehost', 'project_archived'],
      },
      schema: {
        tags,
        operationId: 'updateComment',
        summary: 'Update a comment',
        description:
          'Updates the text of a comment that you wrote, or any with the scope `admin`. While the repository is connected, comments from the code host can only be edited there (403 `managed_by_codehost`). Keys without `tasks:read` only get `id`.',
        params: IdPath('comment'),
        body: ref(CommentChange),
        response: { 200: responses(ref(WrittenComment), { description: 'The updated comment.' }) },
      },
    },
    (request) => comments.update(request.caller, { id: request.params.id, change: request.body }),
  )

  app.delete(
    '/comments/:id',
    {
      config: {
        operation: commentOperations.delete,
        errors: ['comment_not_found', 'insufficient_scope', 'managed_by_codehost', 'project_archived'],
      },
      schema: {
        tags,
        operationId: 'deleteComment',
        summary: 'Delete a comment',
        description:
          'Permanently deletes a comment that you wrote, or any with the scope `admin`. While the repository is connected, comments from the code host can only be deleted there (403 `managed_by_codehost`).',
        params: IdPath('comment'),
        response: { 204: emptyResponse('The comment is deleted.') },
      },
    },
    async (request, reply) => {
      await comments.delete(request.caller, request.params.id)
      return reply.status(204).send(null)
    },
  )
}
