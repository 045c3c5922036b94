import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { etagOf } from '../lib/etag.ts'
import { ClaimedTask, ClaimRelease, ClaimRenewal, NewClaim, NextClaim } from '../schemas/claim-requests.ts'
import { IdempotencyKey } from '../schemas/headers.ts'
import { IdPath, ref } from '../schemas/parts.ts'
import { ETag, emptyResponse, responses } from '../schemas/responses.ts'
import { claimOperations, onlyClaim } from '../services/claims/index.ts'
import type { Services } from '../services/index.ts'
import { mayReadTasks } from '../services/tasks/view.ts'

const tags = ['Claims']

/** Claims, renews and releases tasks. */
export const claimsRoutes: FastifyPluginAsyncTypebox<Services> = async (app, service) => {
  const { claims } = service

  app.post(
    '/claim',
    {
      config: {
        operation: claimOperations.claimNext,
        errors: ['project_not_found', 'list_not_found', 'project_archived'],
      },
      schema: {
        tags,
        operationId: 'claimNextTask',
        summary: 'Claim the next task',
        description:
          'Claims the first ready task: the one with the highest priority, and of these the oldest. A task is ready if it is open and not claimed, every task in its `blockedBy` is done or deleted, and its project isn’t archived. The claim sets `in_progress`. It lasts for `leaseSeconds`, and then the task is ready again, unless you renew the claim or complete the task. However many callers claim at the same time, each task is claimed by one. Keys without `tasks:read` only get `id`, `version` and `claim`.',
        headers: IdempotencyKey,
        body: ref(NextClaim),
        response: {
          200: responses(ref(ClaimedTask), { description: 'The claimed task.', headers: { etag: ETag } }),
          204: emptyResponse('No task is ready.'),
        },
      },
    },
    (request, reply) =>
      app.idempotently<ClaimedTask | null>(
        { request, reply, restrict: mayReadTasks(request.caller) ? undefined : onlyClaimIfAny },
        async ({ claims }) => {
          const task = await claims.claimNext(request.caller, request.body)
          return task ? claimedResponse(task) : { status: 204, body: null, hasEffect: false }
        },
      ),
  )

  app.post(
    '/:id/claim',
    {
      config: {
        operation: claimOperations.claim,
        errors: ['task_not_found', 'project_archived', 'task_claimed', 'task_not_ready'],
      },
      schema: {
        tags,
        operationId: 'claimTask',
        summary: 'Claim a task',
        description:
          'Claims this task for you. If it is claimed already, the response is 409 `task_claimed`, with the `claim`. If it isn’t ready, the response is 409 `task_not_ready`, and `detail` says why. Keys without `tasks:read` only get `id`, `version` and `claim`.',
        params: IdPath('task'),
        headers: IdempotencyKey,
        body: ref(NewClaim),
        response: {
          200: responses(ref(ClaimedTask), { description: 'The claimed task.', headers: { etag: ETag } }),
        },
      },
    },
    (request, reply) =>
      app.idempotently<ClaimedTask>(
        { request, reply, restrict: mayReadTasks(request.caller) ? undefined : onlyClaim },
        async ({ claims }) => {
          const { caller, params, body } = request
          return claimedResponse(await claims.claim(caller, { ...params, ...body }))
        },
      ),
  )

  app.post(
    '/:id/claim/renew',
    {
      config: {
        operation: claimOperations.renew,
        errors: ['task_not_found', 'project_archived', 'claim_lost'],
      },
      schema: {
        tags,
        operationId: 'renewClaim',
        summary: 'Renew a claim',
        description:
          'Extends your claim: it lasts for `leaseSeconds` from now. This changes no version of the task. If the claim has ended, or is of another key, the response is 409 `claim_lost`: stop working on the task. Keys without `tasks:read` only get `id`, `version` and `claim`.',
        params: IdPath('task'),
        body: ref(ClaimRenewal),
        response: {
          200: responses(ref(ClaimedTask), {
            description: 'The task, with the renewed claim.',
            headers: { etag: ETag },
          }),
        },
      },
    },
    async ({ caller, params, body }, reply) =>
      reply.withVersion(await claims.renew(caller, { ...params, ...body })),
  )

  app.delete(
    '/:id/claim',
    {
      config: {
        operation: claimOperations.release,
        errors: ['task_not_found', 'project_archived', 'claim_lost'],
      },
      schema: {
        tags,
        operationId: 'releaseClaim',
        summary: 'Release a claim',
        description:
          'Ends your claim without completing the task: it is open again, and ready for the next one. If the claim has ended already, or is of another key, the response is 409 `claim_lost`.',
        params: IdPath('task'),
        querystring: ClaimRelease,
        response: { 204: emptyResponse('The claim is released.') },
      },
    },
    async ({ caller, params, query }, reply) => {
      await claims.release(caller, { ...params, ...query })
      return reply.status(204).send(null)
    },
  )
}

const claimedResponse = (task: ClaimedTask) => ({ status: 200, headers: { etag: etagOf(task) }, body: task })

const onlyClaimIfAny = (task: ClaimedTask | null) => task && onlyClaim(task)
