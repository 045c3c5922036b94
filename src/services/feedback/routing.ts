import { changesBetween, isNoChange } from '../../domain/changes.ts'
import { orderByPosition } from '../../domain/cursor.ts'
import { readDelivery } from '../../domain/feedback/reading.ts'
import {
  consideredRules,
  decideRoute,
  nameOf,
  projectsNamedIn,
  type RoutingFields,
} from '../../domain/feedback/routing.ts'
import { idsOf, insertAt } from '../../domain/list-order.ts'
import type { Operations } from '../../domain/operation.ts'
import { notJson, routingRuleNotFound, validationFailed } from '../../errors/index.ts'
import type { Clock } from '../../lib/clock.ts'
import type { RoutingRow } from '../../repositories/feedback/routing.ts'
import { type BoundRepositories, everywhere, type Repositories } from '../../repositories/index.ts'
import { redacted } from '../../repositories/redacted.ts'
import type { NewRoutingRule, RoutingRule, RoutingRuleChange, RoutingTest } from '../../schemas/routing.ts'
import type { Caller } from '../access.ts'
import { changeLog } from '../activity/row.ts'
import { tasksIn } from '../deliveries/index.ts'
import { readPage } from '../page.ts'
import { writableProject } from '../writable-project.ts'

/** The name of the list for feedback in each project. */
export const FEEDBACK_LIST = 'User Feedback'

export const routingOperations = {
  create: { scope: 'admin', isServiceWide: true },
  list: { scope: 'admin', isServiceWide: true },
  get: { scope: 'admin', isServiceWide: true },
  update: { scope: 'admin', isServiceWide: true },
  delete: { scope: 'admin', isServiceWide: true },
  test: { scope: 'admin', isServiceWide: true },
} satisfies Operations<ReturnType<typeof routingService>>

/** Routing rules. Their number and order change under one lock. */
export function routingService({ repos, clock }: { repos: Repositories; clock: Clock }) {
  const log = changeLog(clock)

  return {
    /** @throws project_not_found, project_archived, validation_failed */
    async create(caller: Caller, { position, ...input }: NewRoutingRule): Promise<RoutingRule> {
      return repos.within(everywhere).transaction(async (repos) => {
        const present = await repos.routing.listForUpdate()
        await writableProject(repos, { id: input.targetProjectId })
        const now = clock.now()
        const id = clock.newId(now)
        const order = insertAt(idsOf(present), { id, position })
        const row = {
          id,
          name: input.name ?? null,
          projectMatch: input.projectMatch ?? null,
          appMatch: input.appMatch ?? null,
          targetProjectId: input.targetProjectId,
          position: order.indexOf(id),
          isActive: input.isActive ?? true,
          createdAt: now,
          updatedAt: now,
        }
        refuseWithoutMatch(row)
        await repos.routing.insert(row)
        await repos.routing.reorder(order)
        await record(repos, { type: 'routing.created', caller, rule: row, now, details: detailsOf(row) })
        return toRoutingRule(row)
      })
    },

    /** By position. */
    async list(query: { limit?: number; cursor?: string }) {
      const { routing } = repos.within(everywhere)
      const { data, nextCursor } = await readPage({
        order: orderByPosition('routing'),
        request: query,
        read: routing.list,
      })
      return { data: data.map(toRoutingRule), nextCursor }
    },

    /** @throws routing_rule_not_found */
    async get(id: string): Promise<RoutingRule> {
      const row = await repos.within(everywhere).routing.find(id)
      if (!row) throw routingRuleNotFound(id)
      return toRoutingRule(row)
    },

    /** @throws routing_rule_not_found, project_not_found, project_archived, validation_failed */
    async update(
      caller: Caller,
      { id, change: { position, ...change } }: { id: string; change: RoutingRuleChange },
    ): Promise<RoutingRule> {
      return repos.within(everywhere).transaction(async (repos) => {
        const present = await repos.routing.listForUpdate()
        const row = present.find((rule) => rule.id === id)
        if (!row) throw routingRuleNotFound(id)
        const order = position === undefined ? idsOf(present) : insertAt(idsOf(present), { id, position })
        const changed = { ...row, ...change, position: order.indexOf(id) }
        refuseWithoutMatch(changed)
        if (changed.targetProjectId !== row.targetProjectId)
          await writableProject(repos, { id: changed.targetProjectId })
        if (Object.keys(change).length > 0 || changed.position !== row.position) {
          changed.updatedAt = clock.now()
          await repos.routing.update(id, { ...change, updatedAt: changed.updatedAt })
          await repos.routing.reorder(order)
          const changes = changesBetween({ before: row, after: changed, names: DETAILS })
          if (!isNoChange(changes))
            await record(repos, {
              type: 'routing.updated',
              caller,
              rule: changed,
              now: changed.updatedAt,
              details: { changes },
            })
        }
        return toRoutingRule(changed)
      })
    },

    /** @throws routing_rule_not_found */
    async delete(caller: Caller, id: string): Promise<void> {
      await repos.within(everywhere).transaction(async (repos) => {
        const present = await repos.routing.listForUpdate()
        const row = present.find((rule) => rule.id === id)
        if (!row) throw routingRuleNotFound(id)
        await repos.routing.delete(id)
        await repos.routing.reorder(idsOf(present).filter((other) => other !== id))
        await record(repos, {
          type: 'routing.deleted',
          caller,
          rule: row,
          now: clock.now(),
          details: detailsOf(row),
        })
      })
    },

    /**
     * Returns where a delivery would be routed, and why. Changes nothing.
     * @throws invalid_json, validation_failed
     */
    async test(bytes: Uint8Array): Promise<RoutingTest> {
      const reading = readDelivery(bytes)
      if (reading.outcome === 'unreadable') throw notJson(reading.readUpTo)
      if (reading.outcome === 'rejected') throw validationFailed(reading.errors)
      if (reading.outcome === 'ignored') return IGNORED
      const { fields, dedupKey, task } = reading.event
      const { routing, deliveries } = repos.within(everywhere)
      const [table, [before]] = await redacted(async () => [
        await findTable(routing, [fields]),
        await deliveries.listByKeys([dedupKey]),
      ])
      const decision = decideRoute(fields, table)
      const considered = consideredRules(fields, { table, winner: decision })
      return {
        wouldCreate: !before,
        projectId: decision.project.id,
        listName: FEEDBACK_LIST,
        ruleId: decision.rule?.id ?? null,
        matchedOn: decision.matchedOn,
        explanation: [
          ...(before
            ? [
                `This event was already received as task ${tasksIn(before)[0]?.taskId}; a repeat doesn’t create another one.`,
              ]
            : []),
          decision.explanation,
          ...considered
            .filter(({ outcome }) => outcome === 'lost')
            .slice(0, MAX_EXPLAINED)
            .map(({ ruleId, reason }) => {
              const rule = table.rules.find(({ id }) => id === ruleId)
              return `${rule ? nameOf(rule) : 'A rule'} ${reason}.`
            }),
        ].join(' '),
        title: task.title,
        considered,
      }
    },
  }

  /** Logs a change, in its transaction. Without a project: routing belongs to the whole service. */
  async function record(
    repos: BoundRepositories,
    { type, caller, rule: { id, name }, now, details }: RecordedChange,
  ) {
    const metadata = { routingRuleId: id, name, ...details }
    await log(repos, { now, type, caller, metadata })
    await repos.configurationChanges.announceRouting()
  }
}

/** A change as the activity log gets it. */
interface RecordedChange {
  type: string
  caller: Caller
  rule: RoutingRow
  now: Date
  details: Record<string, unknown>
}

/** The members of a rule that the activity log contains. */
const DETAILS = [
  'name',
  'projectMatch',
  'appMatch',
  'targetProjectId',
  'position',
  'isActive',
] as const satisfies readonly (keyof RoutingRow)[]

const detailsOf = (row: RoutingRow) => Object.fromEntries(DETAILS.map((name) => [name, row[name]]))

/** Reads the input of routing decisions. */
export async function findTable(routing: BoundRepositories['routing'], fields: RoutingFields[]) {
  return routing.findTable({ ...projectsNamedIn(fields), listName: FEEDBACK_LIST })
}

/** Maximum number of rules in an explanation; `considered` has all. */
const MAX_EXPLAINED = 20

const IGNORED: RoutingTest = {
  wouldCreate: false,
  projectId: null,
  listName: null,
  ruleId: null,
  matchedOn: null,
  explanation: 'Only feedback_submitted events create tasks. This event would be ignored.',
  title: null,
  considered: [],
}

function refuseWithoutMatch({ projectMatch, appMatch }: Pick<RoutingRow, 'projectMatch' | 'appMatch'>) {
  if (projectMatch !== null || appMatch !== null) return
  const message = 'is required, unless you set appMatch'
  throw validationFailed([{ path: '/projectMatch', code: 'required', message }])
}

const toRoutingRule = (row: RoutingRow): RoutingRule => ({
  id: row.id,
  name: row.name,
  projectMatch: row.projectMatch,
  appMatch: row.appMatch,
  targetProjectId: row.targetProjectId,
  position: row.position,
  isActive: row.isActive,
  createdAt: row.createdAt.toISOString(),
  updatedAt: row.updatedAt.toISOString(),
})
