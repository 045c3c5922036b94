import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { IdempotencyKey } from '../schemas/headers.ts'
import { List, ListChange, ListPage, ListQuery, ListRemoval, NewList } from '../schemas/list.ts'
import { IdPath, ref } from '../schemas/parts.ts'
import { emptyResponse, Location, responses } from '../schemas/responses.ts'
import type { Services } from '../services/index.ts'
import { listOperations } from '../services/lists.ts'

const tags = ['Lists']

/** The lists of a project: created and listed below the project, then at their own path. */
export const listsRoutes: FastifyPluginAsyncTypebox<Services> = async (app, service) => {
  const { lists } = service

  app.post(
    '/projects/:id/lists',
    {
      config: { operation: listOperations.create, errors: ['project_not_found', 'project_archived'] },
      schema: {
        tags,
        operationId: 'createList',
        summary: 'Create a list',
        description: 'Creates a list in a project, at the end or at the given position.',
        params: IdPath('project'),
        headers: IdempotencyKey,
        body: ref(NewList),
        response: {
          201: responses(ref(List), { description: 'The created list.', headers: { location: Location } }),
        },
      },
    },
    (request, reply) =>
      app.idempotently({ request, reply }, async ({ lists }) => {
        const body = await lists.create(request.caller, { projectId: request.params.id, list: request.body })
        return { status: 201, headers: { location: `/api/lists/${body.id}` }, body }
      }),
  )

  app.get(
    '/projects/:id/lists',
    {
      config: { operation: listOperations.list, errors: ['project_not_found', 'invalid_cursor'] },
      schema: {
        tags,
        operationId: 'listLists',
        summary: 'List lists',
        description: 'Returns a page of the project’s lists, by position.',
        params: IdPath('project'),
        querystring: ListQuery,
        response: { 200: responses(ListPage, { description: 'A page of lists.' }) },
      },
    },
    (request) => lists.list(request.caller, { projectId: request.params.id, query: request.query }),
  )

  app.get(
    '/lists',
    {
      config: { operation: listOperations.listAll, errors: ['invalid_cursor'] },
      schema: {
        tags,
        operationId: 'listAllLists',
        summary: 'List lists of all projects',
        description:
          'Returns a page of the lists of all projects that aren’t archived, in the order in which they were created.',
        querystring: ListQuery,
        response: { 200: responses(ListPage, { description: 'A page of lists.' }) },
      },
    },
    (request) => lists.listAll(request.caller, request.query),
  )

  app.get(
    '/lists/:id',
    {
      config: { operation: listOperations.get, errors: ['list_not_found'] },
      schema: {
        tags,
        operationId: 'getList',
        summary: 'Retrieve a list',
        description: 'Returns a list.',
        params: IdPath('list'),
        response: { 200: responses(ref(List), { description: 'The list.' }) },
      },
    },
    (request) => lists.get(request.caller, request.params.id),
  )

  app.patch(
    '/lists/:id',
    {
      config: { operation: listOperations.update, errors: ['list_not_found', 'project_archived'] },
      schema: {
        tags,
        operationId: 'updateList',
        summary: 'Update a list',
        description:
          'Updates the given fields. If the list moves, the other lists of the project are renumbered.',
        params: IdPath('list'),
        body: ref(ListChange),
        response: { 200: responses(ref(List), { description: 'The updated list.' }) },
      },
    },
    (request) => lists.update(request.caller, { id: request.params.id, change: request.body }),
  )

  app.delete(
    '/lists/:id',
    {
      config: {
        operation: listOperations.delete,
        errors: ['list_not_found', 'project_archived', 'list_is_default', 'list_not_empty'],
      },
      schema: {
        tags,
        operationId: 'deleteList',
        summary: 'Delete a list',
        description:
          'Deletes a list. If it has tasks, `moveTo` is required: the tasks move there, each with a new version. Deleted tasks move as well, without `moveTo` to the default list. If that takes more than two seconds, the response is 202 and the rest continues in the background, even after a restart: the list accepts tasks until all have moved, and then returns 404. Repeat the request to check the progress.',
        params: IdPath('list'),
        querystring: ListRemoval,
        response: {
          202: responses(ref(List), {
            description: 'The list, while its tasks are being moved.',
            headers: { location: Location },
          }),
          204: emptyResponse('The list is deleted.'),
        },
      },
    },
    async (request, reply) => {
      const { id } = request.params
      const list = await lists.delete(request.caller, { id, moveTo: request.query.moveTo })
      if (!list) return reply.status(204).send(null)
      reply.status(202).header('location', `/api/lists/${id}`)
      return list
    },
  )
}
