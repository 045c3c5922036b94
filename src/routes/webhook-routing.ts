import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { deliveryIn, EVENT_BYTES, eventBody } from '../plugins/event-body.ts'
import { WebhookEvent } from '../schemas/feedback.ts'
import { IdempotencyKey } from '../schemas/headers.ts'
import { IdPath, PageQuery, ref } from '../schemas/parts.ts'
import { emptyResponse, Location, responses } from '../schemas/responses.ts'
import {
  NewRoutingRule,
  RoutingRule,
  RoutingRuleChange,
  RoutingRulePage,
  RoutingTest,
} from '../schemas/routing.ts'
import { routingOperations } from '../services/feedback/routing.ts'
import type { Services } from '../services/index.ts'

const tags = ['Feedback']

/** Where feedback goes: rules, their order, and a dry run. */
export const webhookRoutingRoutes: FastifyPluginAsyncTypebox<Services> = async (app, service) => {
  const { routing } = service
  app.register(dryRunRoutes, { prefix: '/test', routing })

  app.post(
    '',
    {
      config: {
        operation: routingOperations.create,
        mistakes: ['project_not_found', 'project_archived'],
      },
      schema: {
        tags,
        operationId: 'createRoutingRule',
        summary: 'Create a routing rule',
        description:
          'A rule matches a project, an app, or both at once. Both go before app, app before project; among equals the first one wins.',
        headers: IdempotencyKey,
        body: ref(NewRoutingRule),
        response: { 201: responses(ref(RoutingRule), 'The rule that was made.', { location: Location }) },
      },
    },
    (request, reply) =>
      app.idempotently({ request, reply }, async ({ routing }) => {
        const rule = await routing.create(request.caller, request.body)
        return { status: 201, headers: { location: `/api/webhook-routing/${rule.id}` }, body: rule }
      }),
  )

  app.get(
    '',
    {
      config: { operation: routingOperations.list, mistakes: ['invalid_cursor'] },
      schema: {
        tags,
        operationId: 'listRoutingRules',
        summary: 'List routing rules',
        description: 'One page of the rules, by position.',
        querystring: PageQuery,
        response: { 200: responses(RoutingRulePage, 'A page of rules.') },
      },
    },
    (request) => routing.list(request.query),
  )

  app.get(
    '/:id',
    {
      config: { operation: routingOperations.get, mistakes: ['routing_rule_not_found'] },
      schema: {
        tags,
        operationId: 'getRoutingRule',
        summary: 'Read a routing rule',
        description: 'Answers one rule.',
        params: IdPath('rule'),
        response: { 200: responses(ref(RoutingRule), 'The rule.') },
      },
    },
    (request) => routing.get(request.params.id),
  )

  app.patch(
    '/:id',
    {
      config: {
        operation: routingOperations.update,
        mistakes: ['routing_rule_not_found', 'project_not_found', 'project_archived'],
      },
      schema: {
        tags,
        operationId: 'updateRoutingRule',
        summary: 'Change or move a routing rule',
        description: 'Changes what is named and leaves the rest. The other rules close ranks.',
        params: IdPath('rule'),
        body: ref(RoutingRuleChange),
        response: { 200: responses(ref(RoutingRule), 'The rule as it is now.') },
      },
    },
    (request) => routing.update(request.caller, request.params.id, request.body),
  )

  app.delete(
    '/:id',
    {
      config: { operation: routingOperations.delete, mistakes: ['routing_rule_not_found'] },
      schema: {
        tags,
        operationId: 'deleteRoutingRule',
        summary: 'Delete a routing rule',
        description: 'The other rules close ranks. Tasks that came by it stay where they are.',
        params: IdPath('rule'),
        response: { 204: emptyResponse('It is gone.') },
      },
    },
    async (request, reply) => {
      await routing.delete(request.caller, request.params.id)
      return reply.status(204).send(null)
    },
  )
}

/** Takes an event as the receiver does, so in a scope of its own. */
const dryRunRoutes: FastifyPluginAsyncTypebox<Pick<Services, 'routing'>> = async (app, { routing }) => {
  await app.register(eventBody)

  app.post(
    '',
    {
      bodyLimit: EVENT_BYTES,
      config: { operation: routingOperations.test },
      schema: {
        tags,
        operationId: 'testRouting',
        summary: 'Say what would become of an event',
        description:
          'Takes an event as the receiver does and says where it would go, and why. Changes nothing.',
        body: ref(WebhookEvent),
        response: { 200: responses(ref(RoutingTest), 'What would become of it.') },
      },
    },
    async (request) => routing.test((await deliveryIn(request)).reading),
  )
}
