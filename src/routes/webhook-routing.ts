import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { eventBody, feedbackBytesIn } from '../plugins/event-body.ts'
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

/** Routing rules for feedback, their order, and a dry run. */
export const webhookRoutingRoutes: FastifyPluginAsyncTypebox<Services> = async (app, service) => {
  const { routing } = service
  app.register(dryRunRoutes, { prefix: '/test', routing })

  app.post(
    '',
    {
      config: {
        operation: routingOperations.create,
        errors: ['project_not_found', 'project_archived'],
      },
      schema: {
        tags,
        operationId: 'createRoutingRule',
        summary: 'Create a routing rule',
        description:
          'Creates a routing rule. It matches a project, an app, or both. If several rules match an event, rules for both come first, then rules for an app, then rules for a project. Among these, the rule with the lowest `position` applies.',
        headers: IdempotencyKey,
        body: ref(NewRoutingRule),
        response: {
          201: responses(ref(RoutingRule), {
            description: 'The created rule.',
            headers: { location: Location },
          }),
        },
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
      config: { operation: routingOperations.list, errors: ['invalid_cursor'] },
      schema: {
        tags,
        operationId: 'listRoutingRules',
        summary: 'List routing rules',
        description: 'Returns a page of routing rules, by position.',
        querystring: PageQuery,
        response: { 200: responses(RoutingRulePage, { description: 'A page of routing rules.' }) },
      },
    },
    (request) => routing.list(request.query),
  )

  app.get(
    '/:id',
    {
      config: { operation: routingOperations.get, errors: ['routing_rule_not_found'] },
      schema: {
        tags,
        operationId: 'getRoutingRule',
        summary: 'Retrieve a routing rule',
        description: 'Returns a routing rule.',
        params: IdPath('rule'),
        response: { 200: responses(ref(RoutingRule), { description: 'The rule.' }) },
      },
    },
    (request) => routing.get(request.params.id),
  )

  app.patch(
    '/:id',
    {
      config: {
        operation: routingOperations.update,
        errors: ['routing_rule_not_found', 'project_not_found', 'project_archived'],
      },
      schema: {
        tags,
        operationId: 'updateRoutingRule',
        summary: 'Update a routing rule',
        description: 'Updates the given fields. If the rule moves, the other rules are renumbered.',
        params: IdPath('rule'),
        body: ref(RoutingRuleChange),
        response: { 200: responses(ref(RoutingRule), { description: 'The updated rule.' }) },
      },
    },
    (request) => routing.update(request.caller, { id: request.params.id, change: request.body }),
  )

  app.delete(
    '/:id',
    {
      config: { operation: routingOperations.delete, errors: ['routing_rule_not_found'] },
      schema: {
        tags,
        operationId: 'deleteRoutingRule',
        summary: 'Delete a routing rule',
        description: 'Deletes the rule. The other rules are renumbered, and tasks stay where they are.',
        params: IdPath('rule'),
        response: { 204: emptyResponse('The rule is deleted.') },
      },
    },
    async (request, reply) => {
      await routing.delete(request.caller, request.params.id)
      return reply.status(204).send(null)
    },
  )
}

/** Receives an event as the receiver does, so it needs a scope of its own. */
const dryRunRoutes: FastifyPluginAsyncTypebox<Pick<Services, 'routing'>> = async (app, { routing }) => {
  await app.register(eventBody)

  app.post(
    '',
    {
      config: { operation: routingOperations.test },
      schema: {
        tags,
        operationId: 'testRouting',
        summary: 'Test routing',
        description:
          'Returns where an event would go, and why. The event is processed as in the receiver, but nothing is created.',
        body: ref(WebhookEvent),
        response: { 200: responses(ref(RoutingTest), { description: 'The routing result.' }) },
      },
    },
    async (request) => routing.test(feedbackBytesIn(request)),
  )
}
