import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { etagOfContent } from '../lib/etag.ts'
import { IdempotencyKey, IfMatch, IfNoneMatch } from '../schemas/headers.ts'
import { IdPath, ref } from '../schemas/parts.ts'
import { ContentETag, ETag, emptyResponse, Location, responses } from '../schemas/responses.ts'
import {
  NewRule,
  Rule,
  RuleChange,
  RuleList,
  RuleQuery,
  RuleRevert,
  RuleVersionPage,
  RuleVersionQuery,
} from '../schemas/rule.ts'
import type { Services } from '../services/index.ts'
import { ruleOperations } from '../services/rules.ts'

const tags = ['Rules']

/** Standing instructions for AI assistants. */
export const rulesRoutes: FastifyPluginAsyncTypebox<Services> = async (app, services) => {
  const { rules } = services

  app.post(
    '',
    {
      config: {
        operation: ruleOperations.create,
        mistakes: ['project_not_found', 'project_archived', 'too_many_rules', 'insufficient_scope'],
      },
      schema: {
        tags,
        operationId: 'createRule',
        summary: 'Create a rule',
        description:
          'Makes a standing instruction: for all projects, or for one. At most 1,000 for all projects together and 1,000 for each.',
        headers: IdempotencyKey,
        body: ref(NewRule),
        response: {
          201: responses(ref(Rule), 'The rule that was made.', { etag: ETag, location: Location }),
        },
      },
    },
    (request, reply) =>
      app.idempotently({ request, reply }, async ({ rules }) => {
        const rule = await rules.create(request.caller, request.body)
        const headers = { location: `/api/rules/${rule.id}`, etag: `"${rule.version}"` }
        return { status: 201, headers, body: rule }
      }),
  )

  app.get(
    '',
    {
      config: { operation: ruleOperations.list, mistakes: ['project_not_found'] },
      schema: {
        tags,
        operationId: 'listRules',
        summary: 'List the active rules',
        description:
          'All active rules that apply, in one answer and in the order assistants get them: the global ones, with `projectId` also those of that project; with a key bound to a project always also its own.',
        querystring: RuleQuery,
        headers: IfNoneMatch,
        response: {
          200: responses(RuleList, 'The rules.', { etag: ContentETag }),
          304: emptyResponse('What you hold is what is here.'),
        },
      },
    },
    async (request, reply) => {
      const list = await rules.list(request.caller, request.query)
      return reply.isNotModified(etagOfContent(list)) ? reply.status(304).send(null) : list
    },
  )

  app.get(
    '/:id',
    {
      config: { operation: ruleOperations.get, mistakes: ['rule_not_found'] },
      schema: {
        tags,
        operationId: 'getRule',
        summary: 'Read a rule',
        description: 'Answers one rule, active or not, with its version as ETag.',
        params: IdPath('rule'),
        response: { 200: responses(ref(Rule), 'The rule.', { etag: ETag }) },
      },
    },
    async (request, reply) => reply.withVersion(await rules.get(request.caller, request.params.id)),
  )

  app.patch(
    '/:id',
    {
      config: {
        operation: ruleOperations.update,
        mistakes: ['rule_not_found', 'project_archived', 'version_mismatch'],
      },
      schema: {
        tags,
        operationId: 'updateRule',
        summary: 'Change a rule',
        description:
          'Changes what is named and leaves the rest; what it was before is kept as a version. A change of nothing makes no new version.',
        params: IdPath('rule'),
        headers: IfMatch,
        body: ref(RuleChange),
        response: { 200: responses(ref(Rule), 'The rule as it is now.', { etag: ETag }) },
      },
    },
    async (request, reply) => {
      const allowed = request.allowedVersions()
      return reply.withVersion(await rules.update(request.caller, request.params.id, request.body, allowed))
    },
  )

  app.delete(
    '/:id',
    {
      config: {
        operation: ruleOperations.delete,
        mistakes: ['rule_not_found', 'project_archived', 'version_mismatch'],
      },
      schema: {
        tags,
        operationId: 'deleteRule',
        summary: 'Delete a rule',
        description:
          'Hides the rule at once and for 30 days, in which it can be restored; then it is gone with its versions.',
        params: IdPath('rule'),
        headers: IfMatch,
        response: { 204: emptyResponse('It is hidden.') },
      },
    },
    async (request, reply) => {
      await rules.delete(request.caller, request.params.id, request.allowedVersions())
      return reply.status(204).send(null)
    },
  )

  app.post(
    '/:id/restore',
    {
      config: {
        operation: ruleOperations.restore,
        mistakes: [
          'rule_not_found',
          'project_not_found',
          'project_archived',
          'too_many_rules',
          'insufficient_scope',
        ],
      },
      schema: {
        tags,
        operationId: 'restoreRule',
        summary: 'Restore a deleted rule',
        description:
          'Brings back a rule that was deleted in the last 30 days, with its versions. One that is not deleted is answered as it is.',
        params: IdPath('rule'),
        response: { 200: responses(ref(Rule), 'The rule, back again.', { etag: ETag }) },
      },
    },
    async (request, reply) => reply.withVersion(await rules.restore(request.caller, request.params.id)),
  )

  app.get(
    '/:id/versions',
    {
      config: { operation: ruleOperations.listVersions, mistakes: ['rule_not_found', 'invalid_cursor'] },
      schema: {
        tags,
        operationId: 'listRuleVersions',
        summary: 'List what a rule was',
        description: 'Every version of a rule, the current one included, newest first.',
        params: IdPath('rule'),
        querystring: RuleVersionQuery,
        response: { 200: responses(RuleVersionPage, 'A page of versions.') },
      },
    },
    (request) => rules.listVersions(request.caller, request.params.id, request.query),
  )

  app.post(
    '/:id/revert',
    {
      config: {
        operation: ruleOperations.revert,
        mistakes: ['rule_not_found', 'rule_version_not_found', 'project_archived', 'version_mismatch'],
      },
      schema: {
        tags,
        operationId: 'revertRule',
        summary: 'Go back to a version',
        description:
          'Gives a rule the content, priority and activity it had at a version, as a new version. History is never rewritten.',
        params: IdPath('rule'),
        headers: IfMatch,
        body: ref(RuleRevert),
        response: { 200: responses(ref(Rule), 'The rule as it is now.', { etag: ETag }) },
      },
    },
    async (request, reply) => {
      const allowed = request.allowedVersions()
      const { version } = request.body
      return reply.withVersion(await rules.revert(request.caller, request.params.id, version, allowed))
    },
  )
}
