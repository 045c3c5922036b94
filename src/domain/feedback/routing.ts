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
    projectId: placeNameIn(properties.project_id),
    projectName: placeNameIn(properties.project_name),
    appId: placeNameIn(properties.app_id),
    bundleId: placeNameIn(properties.bundle_id),
  }
}

/** A value longer than any name of a rule or project cannot match, so it is dropped. */
function placeNameIn(value: unknown): string | undefined {
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
  const place = matching.findIndex(({ target }) => isUsable(target))
  const passed = matching.slice(0, place < 0 ? undefined : place).map(passedOver)
  const { rule, on, target } = matching[place] ?? {}
  if (rule && on && target) {
    const explanation = [
      ...passed,
      `${nameOf(rule)} matched on ${WORDS[on]}: it leads to ${quoted(target.name)}.`,
    ]
    return { project: target, rule, matchedOn: on, explanation: explanation.join(' ') }
  }

  const before = [...passed, ...(matching.length > 0 ? [] : ['No rule matched.'])]
  const named = projectsCalled(fields, table)
  const called = named.find(({ isArchived }) => !isArchived)
  const refused = named
    .filter(({ isArchived }) => isArchived)
    .map(({ name }) => `${quoted(name)}, which the event names, is archived.`)
  if (called) {
    const explanation = [
      ...before,
      `The event names the project ${quoted(called.name)}.`,
      ...sharedName(called, named, fields),
    ].join(' ')
    return { project: called, rule: null, matchedOn: 'project_name', explanation }
  }
  const project = defaultOf(table)
  const last = refused.length > 0 ? [] : ['The event names no project of ours.']
  const explanation = [
    ...before,
    ...refused,
    ...last,
    `It goes to the default project ${quoted(project.name)}.`,
  ]
  return { project, rule: null, matchedOn: 'default', explanation: explanation.join(' ') }
}

/** All rules by position, each with the reason why it won or lost. */
export function consideredRules(
  fields: RoutingFields,
  table: RoutingTable,
  winner: RoutingDecision,
): ConsideredRule[] {
  const places = new Map(matchingRules(fields, table).map((match) => [match.rule.id, match]))
  return table.rules.toSorted(byPosition).map((rule) => {
    const base = { ruleId: rule.id, name: rule.name }
    if (rule.id === winner.rule?.id)
      return { ...base, outcome: 'won', reason: `matched on ${WORDS[winner.matchedOn]}` }
    const match = places.get(rule.id)
    return { ...base, outcome: 'lost', reason: match ? lostTo(match, winner) : misfitOf(rule, fields) }
  })
}

type On = 'both' | 'app' | 'project'
interface Match {
  rule: RoutingRule
  on: On
  target: RoutingProject | undefined
}

const RANKS: On[] = ['both', 'app', 'project']
const WORDS: Record<MatchedOn, string> = {
  both: 'project and app',
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
      const on = matchOf(rule, fields)
      return on ? { rule, on, target: projects.find(({ id }) => id === rule.targetProjectId) } : []
    })
    .sort((a, b) => RANKS.indexOf(a.on) - RANKS.indexOf(b.on) || byPosition(a.rule, b.rule))
}

function matchOf({ projectMatch, appMatch }: RoutingRule, fields: RoutingFields): On | undefined {
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

const isSame = (a: string, b: string | undefined) => b !== undefined && folded(a) === folded(b)

const folded = (text: string) => text.normalize().toLowerCase()

const byPosition = (a: RoutingRule, b: RoutingRule) => a.position - b.position || (a.id < b.id ? -1 : 1)

const isUsable = (target: RoutingProject | undefined): target is RoutingProject =>
  target !== undefined && !target.isArchived

/**
 * Sorted: matches by id before matches by name, active before archived, older before newer (ids are in order of
 * creation).
 */
function projectsCalled(
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
  called: RoutingProject,
  named: RoutingProject[],
  { projectId, projectName }: RoutingFields,
) {
  if ([projectId, projectName].some((value) => value?.toLowerCase() === called.id)) return []
  const count = named.filter(({ name, isArchived }) => !isArchived && isSame(name, called.name)).length
  if (count < 2) return []
  return count === 2
    ? ['Two projects have this name: it goes to the older one.']
    : [`${count} projects have this name: it goes to the oldest one.`]
}

function defaultOf({ projects }: RoutingTable): RoutingProject {
  const project = projects.find(({ isDefault }) => isDefault)
  if (!project) throw new Error('There is no default project: the table was read without it.')
  return project
}

const passedOver = ({ rule, on, target }: Match) =>
  `${nameOf(rule)} matched on ${WORDS[on]}, but ${whyUnusable(target)}.`

const whyUnusable = (target: RoutingProject | undefined) =>
  target ? `its project ${quoted(target.name)} is archived` : 'its project is gone'

function lostTo({ rule, on, target }: Match, { rule: winner, matchedOn }: RoutingDecision): string {
  if (!isUsable(target)) return `matched on ${WORDS[on]}, but ${whyUnusable(target)}`
  if (!winner) return `matched on ${WORDS[on]}`
  return matchedOn === on
    ? `matched on ${WORDS[on]} as well, but stands behind ${nameOf(winner, 'rule')}`
    : `matched on ${WORDS[on]}, but a match on ${WORDS[matchedOn]} comes first (position ${rule.position})`
}

/** Quotes the rule's text only, never the event's. */
function misfitOf({ isActive, projectMatch, appMatch }: RoutingRule, fields: RoutingFields): string {
  if (!isActive) return 'is not active'
  const misfits = [
    projectMatch !== null &&
      !isProject(projectMatch, fields) &&
      `the event’s project_id and project_name are not ${quoted(projectMatch)}`,
    appMatch !== null && !isApp(appMatch, fields) && `its bundle_id and app_id are not ${quoted(appMatch)}`,
  ].filter((misfit) => misfit !== false)
  return misfits.join(', and ')
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
