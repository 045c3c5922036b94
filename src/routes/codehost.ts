import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import { refuseIdempotencyKey } from '../guards/idempotency-key.ts'
import { baseUrlOf } from '../lib/base-url.ts'
import type { Completion } from '../plugins/idempotency.ts'
import { Connection, ConnectionRequest, WebhookSecretOfConnection } from '../schemas/codehost.ts'
import { IdempotencyKey } from '../schemas/headers.ts'
import { IdPath, ref } from '../schemas/parts.ts'
import { emptyResponse, Location, responses } from '../schemas/responses.ts'
import {
  Prefer,
  SyncPath,
  SyncQuery,
  SyncRun,
  SyncRunPage,
  SyncRunPath,
  SyncRunQuery,
} from '../schemas/sync-run.ts'
import { codehostOperations } from '../services/codehost/index.ts'
import type { ConnectionView } from '../services/codehost/run-view.ts'
import type { Services } from '../services/index.ts'

const tags = ['Code host']
const MAX_WAIT_SECONDS = 60
/** Time to write the response after the wait, on a busy machine. */
const COMPLETION_MARGIN_MS = 5_000

const Applied = Type.String({ description: 'The preference that was applied.' })

interface CodehostRoutesOptions extends Pick<Services, 'codehost' | 'sync'> {
  /** The URL that others reach this service at; by default, that of the request. */
  publicUrl: string | undefined
}

/** Connects a project to a repository, and syncs it. */
export const codehostRoutes: FastifyPluginAsyncTypebox<CodehostRoutesOptions> = async (app, service) => {
  const { codehost, sync, publicUrl } = service
  const draining = new AbortController()
  app.addHook('preClose', async () => draining.abort())

  app.put(
    '/projects/:id/codehost',
    {
      config: {
        operation: codehostOperations.connect,
        errors: [
          'project_not_found',
          'list_not_found',
          'project_archived',
          'codehost_url_not_allowed',
          'codehost_token_rejected',
          'codehost_repository_not_found',
          'codehost_access_denied',
          'encryption_key_missing',
          'codehost_unreachable',
        ],
      },
      schema: {
        tags,
        operationId: 'connectRepository',
        summary: 'Connect a repository',
        description:
          'Connects a repository to a project, or updates the connection. Omitted fields keep their stored values. Inlet checks at once that it can read the issues. No sync run starts; the first scheduled one is due an interval later, and at once if the last run of this connection failed. Connecting a different repository ends an active run. A key bound to a project must send its own `token` or `app` with a new repository (403 `insufficient_scope`): only an unbound admin key can use `CODEHOST_TOKEN`, or the stored token or App, for it.',
        params: IdPath('project'),
        body: ref(ConnectionRequest),
        response: { 200: responses(ref(Connection), { description: 'The connection.' }) },
      },
    },
    async (request) => {
      const about = { projectId: request.params.id, input: request.body }
      const connection = await codehost.connect(request.caller, about)
      // It may be due at once.
      sync.wake()
      return withUrl(request, connection)
    },
  )

  app.get(
    '/projects/:id/codehost',
    {
      config: { operation: codehostOperations.get, errors: ['project_not_found', 'connection_not_found'] },
      schema: {
        tags,
        operationId: 'getConnection',
        summary: 'Retrieve the connection',
        description:
          'Returns the connected repository of a project. The token and the private key are never returned.',
        params: IdPath('project'),
        response: { 200: responses(ref(Connection), { description: 'The connection.' }) },
      },
    },
    async (request) => withUrl(request, await codehost.get(request.caller, request.params.id)),
  )

  app.delete(
    '/projects/:id/codehost',
    {
      config: {
        operation: codehostOperations.disconnect,
        errors: ['project_not_found', 'connection_not_found', 'project_archived'],
      },
      schema: {
        tags,
        operationId: 'disconnectRepository',
        summary: 'Disconnect the repository',
        description:
          'Disconnects the repository from the project. The tasks are kept, and an active run fails.',
        params: IdPath('project'),
        response: { 204: emptyResponse('The repository is disconnected.') },
      },
    },
    async (request, reply) => {
      await codehost.disconnect(request.caller, request.params.id)
      return reply.status(204).send(null)
    },
  )

  app.post(
    '/projects/:id/codehost/webhook-secret',
    {
      preHandler: refuseIdempotencyKey,
      config: {
        operation: codehostOperations.renewWebhookSecret,
        errors: [
          'idempotency_not_supported',
          'project_not_found',
          'connection_not_found',
          'project_archived',
          'encryption_key_missing',
          'too_many_secrets',
        ],
      },
      schema: {
        tags,
        operationId: 'createConnectionWebhookSecret',
        summary: 'Create a webhook secret for the connection',
        description:
          'Creates the secret that the code host signs its deliveries with. It is only returned once. Each secret that was replaced works for one more day; at most ten of them at a time.',
        params: IdPath('project'),
        response: { 200: responses(ref(WebhookSecretOfConnection), { description: 'The new secret.' }) },
      },
    },
    async (request) => {
      const { connectionId, ...renewed } = await codehost.renewWebhookSecret(
        request.caller,
        request.params.id,
      )
      return { url: webhookUrl(request, connectionId), ...renewed }
    },
  )

  app.post(
    '/codehost/:projectId/sync',
    {
      config: {
        isLong: ({ headers }) => Boolean(secondsToWait([headers.prefer].flat().join())),
        operation: codehostOperations.sync,
        errors: ['project_not_found', 'project_archived', 'repository_not_connected', 'sync_in_progress'],
      },
      schema: {
        tags,
        operationId: 'startSync',
        summary: 'Sync issues and pull requests',
        description:
          'Queues a run that imports issues and pull requests as tasks. Follow its progress at `Location` or in the activity stream, or wait for it with `Prefer: wait=N`.',
        params: SyncPath,
        querystring: SyncQuery,
        headers: Type.Object({ ...IdempotencyKey.properties, ...Prefer.properties }),
        response: {
          200: responses(ref(SyncRun), {
            description: 'The run has ended or is rate limited.',
            headers: { location: Location, 'preference-applied': Applied },
          }),
          202: responses(ref(SyncRun), {
            description: 'The run is queued or running.',
            headers: { location: Location },
          }),
        },
      },
    },
    async (request, reply) => {
      const { projectId } = request.params
      const mode = request.query.mode ?? 'incremental'
      const seconds = secondsToWait(request.headers.prefer)
      const completion: Completion<SyncRun> = {
        withinMs: (seconds ?? 0) * 1_000 + COMPLETION_MARGIN_MS,
        async complete(started) {
          sync.wake()
          if (seconds === undefined) return started
          const gone = new AbortController()
          reply.raw.once('close', () => gone.abort())
          const { run, isOver } = await codehost.awaitRun(request.caller, {
            started: started.body,
            timeoutMs: seconds * 1_000,
            signal: AbortSignal.any([gone.signal, draining.signal]),
          })
          const headers = { ...started.headers, 'preference-applied': `wait=${seconds}` }
          return { status: isOver ? 200 : 202, headers, body: run }
        },
      }
      return app.idempotently({ request, reply, completion }, async ({ codehost }) => {
        const body = await codehost.sync(request.caller, { projectId, mode })
        return { status: 202, headers: { location: `/api/codehost/${projectId}/syncs/${body.id}` }, body }
      })
    },
  )

  app.get(
    '/codehost/:projectId/syncs',
    {
      config: { operation: codehostOperations.listRuns, errors: ['project_not_found', 'invalid_cursor'] },
      schema: {
        tags,
        operationId: 'listSyncs',
        summary: 'List sync runs',
        description:
          'Returns a page of sync runs of the project, newest first. Includes runs of earlier connections.',
        params: SyncPath,
        querystring: SyncRunQuery,
        response: { 200: responses(SyncRunPage, { description: 'A page of sync runs.' }) },
      },
    },
    (request) =>
      codehost.listRuns(request.caller, { projectId: request.params.projectId, query: request.query }),
  )

  app.get(
    '/codehost/:projectId/syncs/:runId',
    {
      config: { operation: codehostOperations.getRun, errors: ['project_not_found', 'sync_run_not_found'] },
      schema: {
        tags,
        operationId: 'getSync',
        summary: 'Retrieve a sync run',
        description: 'Returns the progress and result of a sync run.',
        params: SyncRunPath,
        response: { 200: responses(ref(SyncRun), { description: 'The run.' }) },
      },
    },
    (request) => codehost.getRun(request.caller, request.params),
  )

  function withUrl(request: FastifyRequest, { webhook, ...connection }: ConnectionView): Connection {
    return { ...connection, webhook: { url: webhookUrl(request, connection.id), ...webhook } }
  }

  function webhookUrl(request: FastifyRequest, connectionId: string): string {
    return `${baseUrlOf(request, publicUrl)}/in/codehost/${connectionId}`
  }
}

/** The seconds of `wait=N` (RFC 7240); an invalid preference is ignored. */
function secondsToWait(header: string | undefined): number | undefined {
  const seconds = /(?:^|[,;\s])wait\s*=\s*"?(\d{1,9})"?\s*(?:[,;]|$)/i.exec(header ?? '')?.[1]
  return seconds === undefined ? undefined : Math.min(Number(seconds), MAX_WAIT_SECONDS)
}
