import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { IdempotencyKey } from '../schemas/headers.ts'
import { List, ListChange, ListPage, ListQuery, ListRemoval, NewList } from '../schemas/list.ts'
import { IdPath, ref } from '../schemas/parts.ts'
import { emptyResponse, Location, responses } from '../schemas/responses.ts'
import type { Services } from '../services/index.ts'
import { listOperations } from '../services/lists.ts'

const tags = ['Lists']

/** The lists of a project: made and listed under it, then addressed by themselves. */
export const listsRoutes: FastifyPluginAsyncTypebox<Services> = async (app, service) => {
  const { lists } = service

  app.post(
    '/projects/:id/lists',
    {
      config: { operation: listOperations.create, mistakes: ['project_not_found', 'project_archived'] },
      schema: {
        tags,
        operationId: 'createList',
        summary: 'Create a list',
        description: 'Makes a list in a project, at the end or at the position named.',
        params: IdPath('project'),
        headers: IdempotencyKey,
        body: ref(NewList),
        response: { 201: responses(ref(List), 'The list that was made.', { location: Location }) },
      },
    },
    (request, reply) =>
      app.idempotently({ request, reply }, async ({ lists }) => {
        const body = await lists.create(request.caller, request.params.id, request.body)
        return { status: 201, headers: { location: `/api/lists/${body.id}` }, body }
      }),
  )

  app.get(
    '/projects/:id/lists',
    {
      config: { operation: listOperations.list, mistakes: ['project_not_found', 'invalid_cursor'] },
      schema: {
        tags,
        operationId: 'listLists',
        summary: 'List the lists of a project',
        description: 'One page of the project’s lists, by position.',
        params: IdPath('project'),
        querystring: ListQuery,
        response: { 200: responses(ListPage, 'A page of lists.') },
      },
    },
    (request) => lists.list(request.caller, request.params.id, request.query),
  )

  app.get(
    '/lists/:id',
    {
      config: { operation: listOperations.get, mistakes: ['list_not_found'] },
      schema: {
        tags,
        operationId: 'getList',
        summary: 'Read a list',
        description: 'Answers one list.',
        params: IdPath('list'),
        response: { 200: responses(ref(List), 'The list.') },
      },
    },
    (request) => lists.get(request.caller, request.params.id),
  )

  app.patch(
    '/lists/:id',
    {
      config: { operation: listOperations.update, mistakes: ['list_not_found', 'project_archived'] },
      schema: {
        tags,
        operationId: 'updateList',
        summary: 'Rename or move a list',
        description: 'Changes what is named and leaves the rest. The other lists of the project close ranks.',
        params: IdPath('list'),
        body: ref(ListChange),
        response: { 200: responses(ref(List), 'The list as it is now.') },
      },
    },
    (request) => lists.update(request.caller, request.params.id, request.body),
  )

  app.delete(
    '/lists/:id',
    {
      config: {
        operation: listOperations.delete,
        mistakes: ['list_not_found', 'project_archived', 'list_is_default', 'list_not_empty'],
      },
      schema: {
        tags,
        operationId: 'deleteList',
        summary: 'Delete a list',
        description:
          'A list with tasks needs `moveTo`, which takes them, each with a new version. Deleted tasks do not count; they move along, without `moveTo` to the default list. Where that takes over two seconds the answer is 202 and the rest happens in the background, also across restarts: the list takes tasks until all have moved, then it is 404. A repeated DELETE asks how far it is.',
        params: IdPath('list'),
        querystring: ListRemoval,
        response: {
          202: responses(ref(List), 'The list, while its tasks still move.', { location: Location }),
          204: emptyResponse('It is gone.'),
        },
      },
    },
    async (request, reply) => {
      const { id } = request.params
      const list = await lists.delete(request.caller, id, request.query.moveTo)
      if (!list) return reply.status(204).send(null)
      reply.status(202).header('location', `/api/lists/${id}`)
      return list
    },
  )
}
