import { isPositionKey, type PageOrder } from '../domain/cursor.ts'
import type { Operations } from '../domain/operation.ts'
import { decideRuleChange, distinct, plainNumber } from '../domain/rule-change.ts'
import { refuseInvalidGlobs } from '../domain/rule-paths.ts'
import { isPastRetention } from '../domain/trash.ts'
import {
  globalRuleOutOfReach,
  projectNotFound,
  ruleNotFound,
  ruleVersionNotFound,
  tooManyRules,
} from '../errors/index.ts'
import type { Clock } from '../lib/clock.ts'
import { type BoundRepositories, onlyProjectOf, type Repositories } from '../repositories/index.ts'
import type { RuleRow, RuleVersionRow } from '../repositories/rules.ts'
import {
  MAX_RULES,
  type NewRule,
  type Rule,
  type RuleChange,
  type RuleQuery,
  type RuleVersion,
  type RuleVersionQuery,
} from '../schemas/rule.ts'
import type { Caller } from './access.ts'
import { activityRow, actorOf } from './activity/row.ts'
import { type Page, readPage } from './page.ts'
import { defaultProjectOf } from './place.ts'
import { type RuleSequence, ruleSequence, toRule } from './rule-sequence.ts'
import { type AllowedVersions, refuseStale } from './versions.ts'
import { writableProject } from './writable-project.ts'

export const ruleOperations = {
  create: { scope: 'rules:write' },
  list: { scope: 'rules:read' },
  get: { scope: 'rules:read' },
  update: { scope: 'rules:write' },
  delete: { scope: 'rules:write' },
  restore: { scope: 'rules:write' },
  listVersions: { scope: 'rules:read' },
  revert: { scope: 'rules:write' },
} satisfies Operations<ReturnType<typeof rulesService>>

/** Up to 8,000 characters each. */
const VERSIONS_AT_ONCE = 20

interface RequestedChange {
  caller: Caller
  rule: RuleRow
  input: RuleChange
  details?: object
}

/** Rules: the instructions that assistants receive. */
export function rulesService({ repos, clock }: { repos: Repositories; clock: Clock }) {
  return {
    /** @throws validation_failed, project_not_found, project_archived, insufficient_scope, too_many_rules */
    async create(caller: Caller, input: NewRule): Promise<Rule> {
      refuseInvalidGlobs(input.paths)
      const projectId = input.projectId === undefined ? defaultProjectOf(caller) : input.projectId
      return repos.within(caller).transaction(async (repos) => {
        await lockScope(repos, { caller, projectId })
        await refuseFull(repos, projectId)
        const now = clock.now()
        const rule: RuleRow = {
          id: clock.newId(now),
          content: input.content,
          priority: plainNumber(input.priority ?? 0),
          isActive: input.isActive ?? true,
          paths: distinct(input.paths ?? []),
          projectId,
          version: 1,
          createdAt: now,
          updatedAt: now,
          ...updatedBy(caller),
          deletedAt: null,
        }
        await repos.rules.insert(rule)
        await record(repos, { rule, caller, activities: [{ type: 'rule.created', metadata: {} }] })
        return toRule(rule)
      })
    },

    /**
     * All rules in the caller's reach, or those that apply to a project, in the order in which assistants receive them.
     * @throws project_not_found
     */
    async list(caller: Caller, { projectId, includeInactive = false }: RuleQuery): Promise<RuleSequence> {
      const bound = repos.within(caller)
      if (projectId !== undefined && !(await bound.projects.find(projectId))) throw projectNotFound(projectId)
      const options = { withInactive: includeInactive, ofAll: true }
      const refs = await bound.rules.listRefs(projectId ?? onlyProjectOf(caller), options)
      return ruleSequence(bound.rules, refs)
    },

    /** @throws rule_not_found */
    async get(caller: Caller, id: string): Promise<Rule> {
      const row = await repos.within(caller).rules.find(id)
      if (!row) throw ruleNotFound(id)
      return toRule(row)
    },

    /** @throws validation_failed, rule_not_found, project_archived, insufficient_scope, version_mismatch */
    async update(
      caller: Caller,
      { id, change: input, allowed }: { id: string; change: RuleChange; allowed?: AllowedVersions },
    ): Promise<Rule> {
      refuseInvalidGlobs(input.paths)
      return repos.within(caller).transaction(async (repos) => {
        const rule = await writableRule(repos, { caller, id, allowed })
        return change(repos, { caller, rule, input })
      })
    },

    /**
     * Restores the values of an earlier version as a new version.
     * @throws rule_not_found, rule_version_not_found, project_archived, insufficient_scope, version_mismatch
     */
    async revert(
      caller: Caller,
      { id, version, allowed }: { id: string; version: number; allowed?: AllowedVersions },
    ): Promise<Rule> {
      return repos.within(caller).transaction(async (repos) => {
        const rule = await writableRule(repos, { caller, id, allowed })
        const past = await repos.rules.findVersion(id, version)
        if (!past) throw ruleVersionNotFound(id, version)
        return change(repos, { caller, rule, input: past, details: { revertedTo: version } })
      })
    },

    /**
     * Deletes a rule; it can be restored, with its versions, until the cleanup removes it.
     * @throws rule_not_found, project_archived, insufficient_scope, version_mismatch
     */
    async delete(caller: Caller, { id, allowed }: { id: string; allowed?: AllowedVersions }): Promise<void> {
      await repos.within(caller).transaction(async (repos) => {
        const rule = await writableRule(repos, { caller, id, allowed })
        const now = clock.now()
        await repos.rules.setDeleted(id, now)
        await repos.activity.insert([activityOf(rule, { caller, now, type: 'rule.deleted', metadata: {} })])
      })
    },

    /**
     * Restores a deleted rule; returns one that is not deleted unchanged.
     * @throws rule_not_found, project_archived, insufficient_scope, too_many_rules
     */
    async restore(caller: Caller, id: string): Promise<Rule> {
      return repos.within(caller).transaction(async (repos) => {
        const seen = await repos.rules.find(id, { hidden: true })
        const now = clock.now()
        if (!seen || (seen.deletedAt && isPastRetention(seen.deletedAt, now))) throw ruleNotFound(id)
        await lockScope(repos, { caller, projectId: seen.projectId })
        const rule = await repos.rules.findForUpdate(id, { hidden: true })
        if (!rule) throw ruleNotFound(id)
        if (!rule.deletedAt) return toRule(rule)
        await refuseFull(repos, rule.projectId)
        await repos.rules.setDeleted(id, null)
        await repos.activity.insert([activityOf(rule, { caller, now, type: 'rule.restored', metadata: {} })])
        return toRule(rule)
      })
    },

    /**
     * Newest first.
     * @throws rule_not_found
     */
    async listVersions(
      caller: Caller,
      { id, query }: { id: string; query: RuleVersionQuery },
    ): Promise<Page<RuleVersion>> {
      const bound = repos.within(caller)
      if (!(await bound.rules.find(id))) throw ruleNotFound(id)
      return readPage({
        order: orderOfVersions(id),
        request: query,
        maxAtOnce: VERSIONS_AT_ONCE,
        async read(before, limit) {
          const rows = await bound.rules.listVersions(id, { before, limit })
          return rows.map(toRuleVersion)
        },
      })
    },
  }

  async function change(
    repos: BoundRepositories,
    { caller, rule, input, details = {} }: RequestedChange,
  ): Promise<Rule> {
    const outcome = decideRuleChange(rule, { change: input, now: clock.now() })
    if (!outcome) return toRule(rule)
    const update = { ...outcome.update, ...updatedBy(caller) }
    const changed = { ...rule, ...update }
    await repos.rules.update(rule.id, update)
    await record(repos, {
      rule: changed,
      caller,
      activities: outcome.activities.map(({ type, metadata }) => ({
        type,
        metadata: { ...metadata, ...details },
      })),
    })
    return toRule(changed)
  }

  /** Stores the current version of a rule and logs the change. */
  async function record(
    repos: BoundRepositories,
    { rule, caller, activities }: { rule: RuleRow; caller: Caller; activities: RuleActivity[] },
  ) {
    await repos.rules.insertVersion({
      ruleId: rule.id,
      version: rule.version,
      content: rule.content,
      priority: rule.priority,
      isActive: rule.isActive,
      paths: rule.paths,
      createdAt: rule.updatedAt,
      actorType: rule.updatedByType,
      actorId: rule.updatedById,
      actorName: rule.updatedByName,
    })
    await repos.activity.insert(
      activities.map((activity) => activityOf(rule, { caller, now: rule.updatedAt, ...activity })),
    )
  }

  function activityOf(
    rule: RuleRow,
    { caller, now, type, metadata }: RuleActivity & { caller: Caller; now: Date },
  ) {
    return activityRow(clock, {
      now,
      type,
      actor: actorOf(caller),
      projectId: rule.projectId,
      metadata: { ruleId: rule.id, ...metadata },
    })
  }
}

interface RuleActivity {
  type: string
  metadata: Record<string, unknown>
}

const orderOfVersions = (ruleId: string): PageOrder<{ version: number }, number> => ({
  name: 'rule-versions',
  isKey: isPositionKey,
  cursorOf: ({ version }) => ({ key: version, id: ruleId }),
  startOf: ({ key }) => Number(key),
})

/** Locks a scope for one writer, if the caller may write to it. */
async function lockScope(
  repos: BoundRepositories,
  { caller, projectId }: { caller: Caller; projectId: string | null },
): Promise<void> {
  if (projectId !== null) await writableProject(repos, { id: projectId, lock: 'update' })
  else if (caller.projectIds !== null) throw globalRuleOutOfReach()
  else await repos.rules.lockGlobalScope()
}

async function refuseFull(repos: BoundRepositories, projectId: string | null): Promise<void> {
  if ((await repos.rules.countInScope(projectId)) >= MAX_RULES) throw tooManyRules(MAX_RULES)
}

/** Locks a rule for a change, after its project: the same order as everywhere. */
async function writableRule(
  repos: BoundRepositories,
  { caller, id, allowed }: { caller: Caller; id: string; allowed: AllowedVersions },
): Promise<RuleRow> {
  const seen = await repos.rules.find(id)
  if (!seen) throw ruleNotFound(id)
  if (seen.projectId !== null) await writableProject(repos, { id: seen.projectId, lock: 'update' })
  else if (caller.projectIds !== null) throw globalRuleOutOfReach()
  const rule = await repos.rules.findForUpdate(id)
  if (!rule) throw ruleNotFound(id)
  refuseStale(allowed, rule.version, 'rule')
  return rule
}

function updatedBy(caller: Caller) {
  const { type, id, name } = actorOf(caller)
  return { updatedByType: type, updatedById: id, updatedByName: name }
}

const toRuleVersion = (row: RuleVersionRow): RuleVersion => ({
  version: row.version,
  content: row.content,
  priority: row.priority,
  isActive: row.isActive,
  paths: row.paths,
  createdAt: row.createdAt.toISOString(),
  createdBy: { type: row.actorType, id: row.actorId, name: row.actorName },
})
