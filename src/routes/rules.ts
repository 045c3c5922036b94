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

/** Instructions for AI assistants. */
export const rulesRoutes: FastifyPluginAsyncTypebox<Services> = async (app, services) => {
  const { rules } = services

  app.post(
    '',
    {
      config: {
        operation: ruleOperations.create,
        errors: ['project_not_found', 'project_archived', 'too_many_rules', 'insufficient_scope'],
      },
      schema: {
        tags,
        operationId: 'createRule',
        summary: 'Create a rule',
        description:
          'Creates an instruction for AI assistants, for all projects or for one. There can be at most 1,000 rules for all projects and 1,000 for each project.',
        headers: IdempotencyKey,
        body: ref(NewRule),
        response: {
          201: responses(ref(Rule), {
            description: 'The created rule.',
            headers: { etag: ETag, location: Location },
          }),
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
      config: { operation: ruleOperations.list, errors: ['project_not_found'] },
      schema: {
        tags,
        operationId: 'listRules',
        summary: 'List rules',
        description:
          'Returns all active rules, in the order that assistants get them: those for all projects, and those of every project. With `projectId`, or a key bound to a project, only those that apply to that project.',
        querystring: RuleQuery,
        headers: IfNoneMatch,
        response: {
          200: responses(RuleList, { description: 'The rules.', headers: { etag: ContentETag } }),
          304: emptyResponse('Not modified.'),
        },
      },
    },
    async (request, reply) => {
      const data = await rules.list(request.caller, request.query)
      if (reply.isNotModified(etagOfContent(data.versions))) return reply.status(304).send(null)
      reply.memoryBytes = data.memoryBytes
      return reply.sendPieces({ data, nextCursor: null })
    },
  )

  app.get(
    '/:id',
    {
      config: { operation: ruleOperations.get, errors: ['rule_not_found'] },
      schema: {
        tags,
        operationId: 'getRule',
        summary: 'Retrieve a rule',
        description: 'Returns a rule, active or not, with its version as the ETag.',
        params: IdPath('rule'),
        response: { 200: responses(ref(Rule), { description: 'The rule.', headers: { etag: ETag } }) },
      },
    },
    async (request, reply) => reply.withVersion(await rules.get(request.caller, request.params.id)),
  )

  app.patch(
    '/:id',
    {
      config: {
        operation: ruleOperations.update,
        errors: ['rule_not_found', 'project_archived', 'version_mismatch'],
      },
      schema: {
        tags,
        operationId: 'updateRule',
        summary: 'Update a rule',
        description:
          'Updates the given fields. The previous state is kept as a version. If nothing changes, no version is created.',
        params: IdPath('rule'),
        headers: IfMatch,
        body: ref(RuleChange),
        response: {
          200: responses(ref(Rule), { description: 'The updated rule.', headers: { etag: ETag } }),
        },
      },
    },
    async (request, reply) => {
      const allowed = request.allowedVersions()
      return reply.withVersion(
        await rules.update(request.caller, { id: request.params.id, change: request.body, allowed }),
      )
    },
  )

  app.delete(
    '/:id',
    {
      config: {
        operation: ruleOperations.delete,
        errors: ['rule_not_found', 'project_archived', 'version_mismatch'],
      },
      schema: {
        tags,
        operationId: 'deleteRule',
        summary: 'Delete a rule',
        description:
          'Deletes the rule. It can be restored for 30 days; then it is permanently deleted with its versions.',
        params: IdPath('rule'),
        headers: IfMatch,
        response: { 204: emptyResponse('The rule is deleted.') },
      },
    },
    async (request, reply) => {
      await rules.delete(request.caller, { id: request.params.id, allowed: request.allowedVersions() })
      return reply.status(204).send(null)
    },
  )

  app.post(
    '/:id/restore',
    {
      config: {
        operation: ruleOperations.restore,
        errors: [
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
          'Restores a rule that was deleted in the last 30 days, with its versions. If it isn’t deleted, returns it unchanged.',
        params: IdPath('rule'),
        response: {
          200: responses(ref(Rule), { description: 'The restored rule.', headers: { etag: ETag } }),
        },
      },
    },
    async (request, reply) => reply.withVersion(await rules.restore(request.caller, request.params.id)),
  )

  app.get(
    '/:id/versions',
    {
      config: { operation: ruleOperations.listVersions, errors: ['rule_not_found', 'invalid_cursor'] },
      schema: {
        tags,
        operationId: 'listRuleVersions',
        summary: 'List the versions of a rule',
        description: 'Returns a page of all versions of a rule, including the current one, newest first.',
        params: IdPath('rule'),
        querystring: RuleVersionQuery,
        response: { 200: responses(RuleVersionPage, { description: 'A page of versions.' }) },
      },
    },
    (request) => rules.listVersions(request.caller, { id: request.params.id, query: request.query }),
  )

  app.post(
    '/:id/revert',
    {
      config: {
        operation: ruleOperations.revert,
        errors: ['rule_not_found', 'rule_version_not_found', 'project_archived', 'version_mismatch'],
      },
      schema: {
        tags,
        operationId: 'revertRule',
        summary: 'Revert a rule',
        description:
          'Restores the content, priority, `isActive` and `paths` of an earlier version, as a new version.',
        params: IdPath('rule'),
        headers: IfMatch,
        body: ref(RuleRevert),
        response: {
          200: responses(ref(Rule), { description: 'The updated rule.', headers: { etag: ETag } }),
        },
      },
    },
    async (request, reply) => {
      const allowed = request.allowedVersions()
      const { version } = request.body
      return reply.withVersion(
        await rules.revert(request.caller, { id: request.params.id, version, allowed }),
      )
    },
  )
}
