import { isUuid } from '../../schemas/formats.ts'
import type { MatchedOn } from '../../schemas/routing.ts'
import { textOf } from './event.ts'

/** The fields of an event that routing uses. */
export interface RoutingFields {
  projectId?: string | undefined
  projectName?: string | undefined
  appId?: string | undefined
  bundleId?: string | undefined
}

export interface RoutingRule {
  id: string
  name: string | null
  projectMatch: string | null
  appMatch: string | null
  targetProjectId: string
  position: number
  isActive: boolean
}

export interface RoutingProject {
  id: string
  name: string
  isDefault: boolean
  isArchived: boolean
  /** The project's feedback list, if it has one. */
  listId: string | null
  groupFeedback: 'off' | 'suggest' | 'auto'
  triage: 'on' | 'off'
}

/** All input of a decision except the event: the rules, and every project that may be selected. */
export interface RoutingTable {
  rules: RoutingRule[]
  projects: RoutingProject[]
}

export interface RoutingDecision {
  project: RoutingProject
  rule: RoutingRule | null
  matchedOn: MatchedOn
  explanation: string
}

/** The outcome of one rule, with the reason. */
export interface ConsideredRule {
  ruleId: string
  name: string | null
  outcome: 'won' | 'lost'
  reason: string
}

export function routingFieldsOf(properties: Record<string, unknown>): RoutingFields {
  return {
    projectId: nameIn(properties.project_id),
    projectName: nameIn(properties.project_name),
    appId: nameIn(properties.app_id),
    bundleId: nameIn(properties.bundle_id),
  }
}

/** A value longer than any name of a rule or project cannot match, so it is dropped. */
function nameIn(value: unknown): string | undefined {
  const text = textOf(value)
  return text !== undefined && text.length <= 1_000 ? text : undefined
}

/** The values of these fields that could be a project's id, and those that could be its name. */
export function projectsNamedIn(fields: RoutingFields[]): { ids: string[]; names: string[] } {
  const values = new Set(
    fields.flatMap(({ projectId, projectName }) => [projectId ?? [], projectName ?? []].flat()),
  )
  return { ids: [...values].filter(isUuid), names: [...values] }
}

/**
 * Decides which project feedback goes to, in this order: a rule matching app and project, app only, project only, a
 * project named by the event, the default project; ties by position. Archived projects are skipped, and the
 * explanation says so.
 */
export function decideRoute(fields: RoutingFields, table: RoutingTable): RoutingDecision {
  const matching = matchingRules(fields, table)
  const index = matching.findIndex(({ target }) => isUsable(target))
  const passed = matching.slice(0, index < 0 ? undefined : index).map(passedOver)
  const { rule, kind, target } = matching[index] ?? {}
  if (rule && kind && target) {
    const explanation = [
      ...passed,
      `${nameOf(rule)} matches ${KIND_TEXT[kind]}. Routed to ${quoted(target.name)}.`,
    ]
    return { project: target, rule, matchedOn: kind, explanation: explanation.join(' ') }
  }

  const before = [...passed, ...(matching.length > 0 ? [] : ['No rule matches.'])]
  const candidates = namedProjects(fields, table)
  const named = candidates.find(({ isArchived }) => !isArchived)
  const refused = candidates
    .filter(({ isArchived }) => isArchived)
    .map(({ name }) => `The project ${quoted(name)} that the event names is archived.`)
  if (named) {
    const explanation = [
      ...before,
      `The event names the project ${quoted(named.name)}.`,
      ...sharedName(named, { candidates, ...fields }),
    ].join(' ')
    return { project: named, rule: null, matchedOn: 'project_name', explanation }
  }
  const project = defaultOf(table)
  const last = refused.length > 0 ? [] : ['The event doesn’t name an existing project.']
  const explanation = [
    ...before,
    ...refused,
    ...last,
    `Routed to the default project ${quoted(project.name)}.`,
  ]
  return { project, rule: null, matchedOn: 'default', explanation: explanation.join(' ') }
}

/** All rules by position, each with the reason why it won or lost. */
export function consideredRules(
  fields: RoutingFields,
  { table, winner }: { table: RoutingTable; winner: RoutingDecision },
): ConsideredRule[] {
  const matches = new Map(matchingRules(fields, table).map((match) => [match.rule.id, match]))
  return table.rules.toSorted(byPosition).map((rule) => {
    const base = { ruleId: rule.id, name: rule.name }
    if (rule.id === winner.rule?.id)
      return { ...base, outcome: 'won', reason: `matches ${KIND_TEXT[winner.matchedOn]}` }
    const match = matches.get(rule.id)
    return {
      ...base,
      outcome: 'lost',
      reason: match ? lossReason(match, winner) : mismatchReason(rule, fields),
    }
  })
}

type MatchKind = 'both' | 'app' | 'project'
interface Match {
  rule: RoutingRule
  kind: MatchKind
  target: RoutingProject | undefined
}

const RANKS: MatchKind[] = ['both', 'app', 'project']
const KIND_TEXT: Record<MatchedOn, string> = {
  both: 'the project and the app',
  app: 'the app',
  project: 'the project',
  project_name: 'the project the event names',
  default: 'nothing',
}

/** Matching rules in order of precedence. */
function matchingRules(fields: RoutingFields, { rules, projects }: RoutingTable): Match[] {
  return rules
    .filter(({ isActive }) => isActive)
    .flatMap((rule) => {
      const kind = matchOf(rule, fields)
      return kind ? { rule, kind, target: projects.find(({ id }) => id === rule.targetProjectId) } : []
    })
    .sort((a, b) => RANKS.indexOf(a.kind) - RANKS.indexOf(b.kind) || byPosition(a.rule, b.rule))
}

function matchOf({ projectMatch, appMatch }: RoutingRule, fields: RoutingFields): MatchKind | undefined {
  const fitsProject = projectMatch !== null && isProject(projectMatch, fields)
  const fitsApp = appMatch !== null && isApp(appMatch, fields)
  if (projectMatch !== null && appMatch !== null) return fitsProject && fitsApp ? 'both' : undefined
  if (fitsApp) return 'app'
  return fitsProject ? 'project' : undefined
}

const isProject = (pattern: string, { projectId, projectName }: RoutingFields) =>
  isSame(pattern, projectId) || isSame(pattern, projectName)

const isApp = (pattern: string, { bundleId, appId }: RoutingFields) =>
  isSame(pattern, bundleId) || isSame(pattern, appId)

const isSame = (a: string, b: string | undefined) => b !== undefined && normalized(a) === normalized(b)

const normalized = (text: string) => text.normalize().toLowerCase()

const byPosition = (a: RoutingRule, b: RoutingRule) => a.position - b.position || (a.id < b.id ? -1 : 1)

const isUsable = (target: RoutingProject | undefined): target is RoutingProject =>
  target !== undefined && !target.isArchived

/**
 * Sorted: matches by id before matches by name, active before archived, older before newer (ids are in order of
 * creation).
 */
function namedProjects(
  { projectId, projectName }: RoutingFields,
  { projects }: RoutingTable,
): RoutingProject[] {
  const values = [projectId, projectName].filter((value) => value !== undefined)
  const inOrder = projects.toSorted((a, b) => (a.id < b.id ? -1 : 1))
  const byId = values.flatMap((value) => inOrder.filter(({ id }) => id === value.toLowerCase()))
  const byName = values.flatMap((value) => inOrder.filter(({ name }) => isSame(name, value)))
  return [...new Set([...byId, ...byName])]
}

/** Notes that other projects share the name, if the match was by name. */
function sharedName(
  named: RoutingProject,
  { candidates, projectId, projectName }: RoutingFields & { candidates: RoutingProject[] },
) {
  if ([projectId, projectName].some((value) => value?.toLowerCase() === named.id)) return []
  const count = candidates.filter(({ name, isArchived }) => !isArchived && isSame(name, named.name)).length
  if (count < 2) return []
  return count === 2
    ? ['Two projects have this name; the older one is used.']
    : [`${count} projects have this name; the oldest one is used.`]
}

function defaultOf({ projects }: RoutingTable): RoutingProject {
  const project = projects.find(({ isDefault }) => isDefault)
  if (!project) throw new Error('There is no default project: the table was read without it.')
  return project
}

const passedOver = ({ rule, kind, target }: Match) =>
  `${nameOf(rule)} matches ${KIND_TEXT[kind]}, but ${whyUnusable(target)}.`

const whyUnusable = (target: RoutingProject | undefined) =>
  target ? `its project ${quoted(target.name)} is archived` : 'its project was deleted'

function lossReason({ kind, target }: Match, { rule: winner, matchedOn }: RoutingDecision): string {
  if (!isUsable(target)) return `matches ${KIND_TEXT[kind]}, but ${whyUnusable(target)}`
  if (!winner) return `matches ${KIND_TEXT[kind]}`
  return matchedOn === kind
    ? `matches ${KIND_TEXT[kind]}, but comes after ${nameOf(winner, 'rule')}`
    : `matches ${KIND_TEXT[kind]}, but a rule that matches ${KIND_TEXT[matchedOn]} takes precedence`
}

/** Quotes the rule's text only, never the event's. */
function mismatchReason({ isActive, projectMatch, appMatch }: RoutingRule, fields: RoutingFields): string {
  if (!isActive) return 'is inactive'
  const mismatches = [
    projectMatch !== null &&
      !isProject(projectMatch, fields) &&
      `project_id and project_name aren’t ${quoted(projectMatch)}`,
    appMatch !== null && !isApp(appMatch, fields) && `bundle_id and app_id aren’t ${quoted(appMatch)}`,
  ].filter((mismatch) => mismatch !== false)
  return `doesn’t match: ${mismatches.join(', and ')}`
}

/** A rule's name; without one, what it matches. */
export const ruleLabel = ({ name, projectMatch, appMatch }: RoutingRule): string =>
  name ??
  [
    projectMatch === null ? [] : `project ${quoted(projectMatch)}`,
    appMatch === null ? [] : `app ${quoted(appMatch)}`,
  ]
    .flat()
    .join(' and ')

export const nameOf = (rule: RoutingRule, word: 'Rule' | 'rule' = 'Rule') => {
  const article = word === 'Rule' ? 'The' : 'the'
  return rule.name === null ? `${article} rule for ${ruleLabel(rule)}` : `${word} ${quoted(rule.name)}`
}

const quoted = (text: string) => `"${text}"`
