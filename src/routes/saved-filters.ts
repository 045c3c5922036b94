import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { IdempotencyKey } from '../schemas/headers.ts'
import { IdPath, PageQuery, ref } from '../schemas/parts.ts'
import { emptyResponse, Location, responses } from '../schemas/responses.ts'
import { NewSavedFilter, SavedFilter, SavedFilterChange, SavedFilterPage } from '../schemas/saved-filter.ts'
import type { Services } from '../services/index.ts'
import { savedFilterOperations } from '../services/saved-filters.ts'

const tags = ['Tasks']

/** Creates, returns, updates and deletes the saved filters of the caller. */
export const savedFiltersRoutes: FastifyPluginAsyncTypebox<Services> = async (app, { savedFilters }) => {
  app.post(
    '',
    {
      config: {
        operation: savedFilterOperations.create,
        errors: ['project_not_found', 'list_not_found', 'too_many_saved_filters', 'person_required'],
      },
      schema: {
        tags,
        operationId: 'createSavedFilter',
        summary: 'Save a filter',
        description:
          'Saves a filter of tasks under a name, for you: for the person, or for the key and its sessions. Each can save 50.',
        headers: IdempotencyKey,
        body: ref(NewSavedFilter),
        response: {
          201: responses(ref(SavedFilter), {
            description: 'The saved filter.',
            headers: { location: Location },
          }),
        },
      },
    },
    (request, reply) =>
      app.idempotently({ request, reply }, async ({ savedFilters }) => {
        const body = await savedFilters.create(request.caller, request.body)
        return { status: 201, headers: { location: `/api/saved-filters/${body.id}` }, body }
      }),
  )

  app.get(
    '',
    {
      config: { operation: savedFilterOperations.list, errors: ['invalid_cursor'] },
      schema: {
        tags,
        operationId: 'listSavedFilters',
        summary: 'List saved filters',
        description: 'Returns your saved filters, oldest first, with the number of tasks that match.',
        querystring: PageQuery,
        response: { 200: responses(SavedFilterPage, { description: 'A page of saved filters.' }) },
      },
    },
    (request) => savedFilters.list(request.caller, request.query),
  )

  app.get(
    '/:id',
    {
      config: { operation: savedFilterOperations.get, errors: ['saved_filter_not_found'] },
      schema: {
        tags,
        operationId: 'getSavedFilter',
        summary: 'Retrieve a saved filter',
        description: 'Returns one of your saved filters.',
        params: IdPath('saved filter'),
        response: { 200: responses(ref(SavedFilter), { description: 'The saved filter.' }) },
      },
    },
    (request) => savedFilters.get(request.caller, request.params.id),
  )

  app.patch(
    '/:id',
    {
      config: {
        operation: savedFilterOperations.update,
        errors: ['saved_filter_not_found', 'project_not_found', 'list_not_found', 'person_required'],
      },
      schema: {
        tags,
        operationId: 'updateSavedFilter',
        summary: 'Update a saved filter',
        description: 'Renames one of your saved filters, or replaces its query.',
        params: IdPath('saved filter'),
        body: ref(SavedFilterChange),
        response: { 200: responses(ref(SavedFilter), { description: 'The updated filter.' }) },
      },
    },
    (request) => savedFilters.update(request.caller, { id: request.params.id, change: request.body }),
  )

  app.delete(
    '/:id',
    {
      config: { operation: savedFilterOperations.delete, errors: ['saved_filter_not_found'] },
      schema: {
        tags,
        operationId: 'deleteSavedFilter',
        summary: 'Delete a saved filter',
        description: 'Deletes one of your saved filters.',
        params: IdPath('saved filter'),
        response: { 204: emptyResponse('The saved filter is deleted.') },
      },
    },
    async (request, reply) => {
      await savedFilters.delete(request.caller, request.params.id)
      return reply.status(204).send(null)
    },
  )
}
