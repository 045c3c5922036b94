import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { refuseIdempotencyKey } from '../guards/idempotency-key.ts'
import { baseUrlOf } from '../lib/base-url.ts'
import { IdPath, ref } from '../schemas/parts.ts'
import { emptyResponse, Location, responses } from '../schemas/responses.ts'
import {
  NewSource,
  Source,
  SourceChange,
  SourcePage,
  SourceQuery,
  SourceRotation,
  SourceWithSecret,
} from '../schemas/source.ts'
import type { Services } from '../services/index.ts'
import { type SourceView, sourceOperations } from '../services/sources/index.ts'

const tags = ['Sources']
const SECRET_ERRORS = ['idempotency_not_supported', 'encryption_key_missing', 'project_archived'] as const

/** Creates, lists, updates, and deletes sources. */
export const sourcesRoutes: FastifyPluginAsyncTypebox<
  Pick<Services, 'sources'> & { publicUrl: string | undefined }
> = async (app, { sources, publicUrl }) => {
  app.post(
    '',
    {
      preHandler: refuseIdempotencyKey,
      config: {
        operation: sourceOperations.create,
        errors: [...SECRET_ERRORS, 'project_not_found', 'list_not_found'],
      },
      schema: {
        tags,
        operationId: 'createSource',
        summary: 'Create a source',
        description:
          'Creates a source: a URL that another system posts JSON to, and templates that make a task of it. The secret is only returned once.',
        body: ref(NewSource),
        response: {
          201: responses(ref(SourceWithSecret), {
            description: 'The created source with its secret.',
            headers: { location: Location },
          }),
        },
      },
    },
    async (request, reply) => {
      const { secret, ...source } = await sources.create(request.caller, request.body)
      return reply
        .status(201)
        .header('location', `/api/sources/${source.id}`)
        .send({ ...withUrl(request, source), secret })
    },
  )

  app.get(
    '',
    {
      config: { operation: sourceOperations.list, errors: ['project_not_found', 'invalid_cursor'] },
      schema: {
        tags,
        operationId: 'listSources',
        summary: 'List sources',
        description: 'Returns a page of sources, oldest first, without their secrets.',
        querystring: SourceQuery,
        response: { 200: responses(SourcePage, { description: 'A page of sources.' }) },
      },
    },
    async (request) => {
      const { data, nextCursor } = await sources.list(request.caller, request.query)
      return { data: data.map((source) => withUrl(request, source)), nextCursor }
    },
  )

  app.get(
    '/:id',
    {
      config: { operation: sourceOperations.get, errors: ['source_not_found'] },
      schema: {
        tags,
        operationId: 'getSource',
        summary: 'Retrieve a source',
        description: 'Returns a source.',
        params: IdPath('source'),
        response: { 200: responses(ref(Source), { description: 'The source.' }) },
      },
    },
    async (request) => withUrl(request, await sources.get(request.caller, request.params.id)),
  )

  app.patch(
    '/:id',
    {
      config: {
        operation: sourceOperations.update,
        errors: ['source_not_found', 'list_not_found', 'project_archived', 'source_secret_missing'],
      },
      schema: {
        tags,
        operationId: 'updateSource',
        summary: 'Update a source',
        description:
          'Updates the given fields of a source. `template` replaces all templates. `verify.scheme` cannot be changed.',
        params: IdPath('source'),
        body: ref(SourceChange),
        response: { 200: responses(ref(Source), { description: 'The updated source.' }) },
      },
    },
    async (request) => {
      const { id } = request.params
      return withUrl(request, await sources.update(request.caller, { id, change: request.body }))
    },
  )

  app.post(
    '/:id/rotate',
    {
      preHandler: refuseIdempotencyKey,
      config: {
        operation: sourceOperations.rotate,
        errors: [...SECRET_ERRORS, 'source_not_found'],
      },
      schema: {
        tags,
        operationId: 'rotateSourceSecret',
        summary: 'Rotate the secret of a source',
        description:
          'Replaces the secret by the given one, or by a new one. The previous secret keeps working for `overlapSeconds` (one day by default). At most two work at a time: one that was replaced before ends. To revoke a secret that others know, send `overlapSeconds: 0`: all earlier secrets end at once.',
        params: IdPath('source'),
        body: ref(SourceRotation),
        response: { 200: responses(ref(SourceWithSecret), { description: 'The source with its secret.' }) },
      },
    },
    async (request) => {
      const { id } = request.params
      const { secret, ...source } = await sources.rotate(request.caller, { id, ...request.body })
      return { ...withUrl(request, source), secret }
    },
  )

  app.delete(
    '/:id',
    {
      config: { operation: sourceOperations.delete, errors: ['source_not_found', 'project_archived'] },
      schema: {
        tags,
        operationId: 'deleteSource',
        summary: 'Delete a source',
        description:
          'Deletes a source with its deliveries. Its tasks stay, and so do deliveries of feedback.',
        params: IdPath('source'),
        response: { 204: emptyResponse('The source is deleted.') },
      },
    },
    async (request, reply) => {
      await sources.delete(request.caller, request.params.id)
      return reply.status(204).send(null)
    },
  )

  const withUrl = (request: FastifyRequest, source: SourceView): Source => ({
    ...source,
    url: `${baseUrlOf(request, publicUrl)}/in/sources/${source.id}`,
  })
}
