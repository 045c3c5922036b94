import { type RuleSize, sizeOfRule, withinBudget } from '../domain/context-budget.ts'
import { AGENTS_HEADING, agentsMarkdown, contextMarkdown } from '../domain/context-markdown.ts'
import { allows } from '../domain/key-strength.ts'
import type { Operations } from '../domain/operation.ts'
import { matchesAny, relativePath } from '../domain/rule-paths.ts'
import { UNTRUSTED } from '../domain/untrusted.ts'
import { visible } from '../domain/visible.ts'
import { projectNotFound, validationFailed } from '../errors/index.ts'
import type { Clock } from '../lib/clock.ts'
import { timeSlices } from '../lib/time-slices.ts'
import { type BoundRepositories, onlyProjectOf, type Repositories } from '../repositories/index.ts'
import type { ProjectRow } from '../repositories/projects.ts'
import type { RuleRef } from '../repositories/rules.ts'
import {
  type Context,
  type ContextRequest,
  MAX_LISTS,
  RECENT_TASKS,
  type TaskBrief,
} from '../schemas/context.ts'
import type { Caller } from './access.ts'
import { itemsOf } from './page.ts'
import { type RuleSequence, ruleSequence, visibleRules } from './rule-sequence.ts'

/** A context whose rules are read as they are needed. */
export type LongContext = Omit<Context, 'instructions'> & { instructions: RuleSequence }

export const contextOperations = {
  read: { scope: 'rules:read' },
  agentsFile: { scope: 'rules:read' },
} satisfies Operations<ReturnType<typeof contextService>>

/** The context that an assistant loads when a session begins. */
export function contextService({ repos, clock }: { repos: Repositories; clock: Pick<Clock, 'now'> }) {
  return {
    /**
     * Returns the context twice: as data, and as Markdown. Both are for a model, so nothing in them is hidden.
     * @throws project_not_found
     */
    async read(
      caller: Caller,
      request: ContextRequest,
    ): Promise<{ context: LongContext; markdown(): AsyncIterable<string> }> {
      const { projectId, budgetTokens, includeArchived, paths } = request
      const bound = repos.within(caller)
      const whole = await gather(bound, {
        caller,
        projectId: projectId ?? onlyProjectOf(caller),
        includeArchived,
        paths,
      })
      const context = budgetTokens === undefined ? whole : await cut(bound, { whole, budgetTokens })
      return { context, markdown: () => contextMarkdown(context) }
    },

    /**
     * Returns all rules that apply as a file for AGENTS.md, and what identifies its content.
     * @throws project_not_found, validation_failed
     */
    async agentsFile(caller: Caller, { projectId, paths, budgetTokens }: ContextRequest) {
      refuseParts({ paths, budgetTokens })
      const bound = repos.within(caller)
      if (projectId !== undefined && !(await bound.projects.find(projectId))) throw projectNotFound(projectId)
      const refs = await bound.rules.listRefs(projectId ?? onlyProjectOf(caller))
      const { versions, memoryBytes, ...rules } = visibleRules(ruleSequence(bound.rules, refs))
      return { identity: [AGENTS_HEADING, versions], memoryBytes, markdown: () => agentsMarkdown(rules) }
    },
  }

  async function gather(
    bound: BoundRepositories,
    { caller, projectId, includeArchived = false, paths = [] }: ContextScope,
  ): Promise<LongContext> {
    const project = projectId === null ? null : await bound.projects.find(projectId)
    if (project === undefined) throw projectNotFound(projectId ?? '')
    const common = async () => ({
      instructions: visibleRules(ruleSequence(bound.rules, await refsAbout(bound, { projectId, paths }))),
      project: project && visible(toContextProject(project)),
      notice: UNTRUSTED,
      serverTime: clock.now().toISOString(),
    })
    if (!allows(caller.scopes, 'tasks:read')) {
      const omitted = { kind: 'tasks' as const, id: null, priority: null, reason: 'scope' as const }
      return { ...(await common()), lists: [], omitted: [omitted], omittedCount: 1 }
    }
    const lists = await bound.context.listDestinations(projectId, MAX_LISTS + 1)
    const counts = await bound.context.countTasks(projectId, { includeArchived })
    const recent = await bound.tasks.list(
      { projectId: projectId ?? undefined, skipsArchived: !includeArchived },
      { sortBy: 'updated', direction: 'descending', limit: RECENT_TASKS + 1, isSummary: true },
    )
    const isCut = lists.length > MAX_LISTS
    const omitted = { kind: 'lists' as const, id: null, priority: null, reason: 'limit' as const }
    return {
      ...(await common()),
      lists: visible(lists.slice(0, MAX_LISTS)),
      tasks: { ...counts, recent: visible(itemsOf<TaskBrief>(recent)) },
      omitted: isCut ? [omitted] : [],
      omittedCount: isCut ? 1 : 0,
    }
  }
}

/** The file has all rules: an assistant reads it in every session. */
function refuseParts(given: object): void {
  const errors = Object.entries(given).flatMap(([name, value]) =>
    value === undefined
      ? []
      : [{ path: `query.${name}`, code: 'not_allowed', message: 'is not supported with format=agents-md' }],
  )
  if (errors.length > 0) throw validationFailed(errors)
}

interface ContextScope {
  caller: Caller
  projectId: string | null
  includeArchived?: boolean | undefined
  paths?: string[] | undefined
}

/** The rules that always apply, and those about one of these files. */
async function refsAbout(
  { rules }: Pick<BoundRepositories, 'rules'>,
  { projectId, paths }: { projectId: string | null; paths: string[] },
): Promise<RuleRef[]> {
  const files = paths.map(relativePath)
  const pause = timeSlices(2)
  const about: RuleRef[] = []
  for (const ref of await rules.listRefs(projectId)) {
    if (ref.paths.length === 0 || (await hasMatch(ref.paths))) about.push(ref)
  }
  return about

  async function hasMatch(globs: string[]): Promise<boolean> {
    for (const glob of globs) {
      if (matchesAny(glob, files)) return true
      await pause()
    }
    return false
  }
}

/** Reads all rules once, for their sizes, and keeps none of them. */
async function cut(
  { rules }: Pick<BoundRepositories, 'rules'>,
  { whole, budgetTokens }: { whole: LongContext; budgetTokens: number },
): Promise<LongContext> {
  const sizes: RuleSize[] = []
  for await (const rule of whole.instructions) sizes.push(sizeOfRule(rule))
  const { instructions, ...rest } = withinBudget({ ...whole, instructions: sizes }, budgetTokens)
  const included = new Set(instructions.map(({ id }) => id))
  const refs = whole.instructions.refs.filter(({ id }) => included.has(id))
  return { ...whole, ...rest, instructions: visibleRules(ruleSequence(rules, refs)) }
}

const toContextProject = ({ id, name, archivedAt }: ProjectRow) => ({
  id,
  name,
  archivedAt: archivedAt?.toISOString() ?? null,
})
