import type { Context, TaskBrief } from '../schemas/context.ts'
import type { Rule } from '../schemas/rule.ts'
import type { DataItem } from './context-budget.ts'
import { fenced, inertJson } from './untrusted.ts'

type Rules = Iterable<Rule> | AsyncIterable<Rule>
type ContextRest = Omit<Context, 'instructions'>

/**
 * The Markdown for an assistant at the start of a session, in pieces: rules first, then the current state, then data.
 */
export async function* contextMarkdown(
  context: ContextRest & { instructions: Rules },
): AsyncGenerator<string> {
  yield* rulesMarkdown(context.instructions)
  yield contextRestMarkdown(context)
}

/** The active rules in order, each a piece. */
export async function* rulesMarkdown(rules: Rules): AsyncGenerator<string> {
  let count = 0
  for await (const rule of rules) yield `${count === 0 ? RULES_HEADING : ''}${ruleMarkdown(rule, count++)}`
  if (count === 0) yield NO_RULES
}

/** A file for AGENTS.md, in pieces: it changes only when a rule does. */
export async function* agentsMarkdown(rules: Rules): AsyncGenerator<string> {
  yield AGENTS_HEADING
  let count = 0
  for await (const { paths, content } of rules)
    yield `\n## Instruction ${++count}\n\n${filesLine(paths)}${content}\n`
  if (count === 0) yield '\nThere are no active instructions.\n'
}

/** What follows the rules. */
export const contextRestMarkdown = (context: ContextRest): string =>
  [overview(context), dataMarkdown(context), omissionsMarkdown(context)]
    .filter((section) => section !== '')
    .map((section) => `\n\n${section}`)
    .join('')
    .concat('\n')

/** In place of rules. */
export const NO_RULES = '# Instructions\n\nThere are no active instructions.'
const RULES_HEADING =
  '# Instructions\n\nStanding instructions from the team, most important first. Follow them for the whole session.'
export const AGENTS_HEADING = `<!-- Written by Inlet. Change the instructions there: changes of this file are overwritten. -->

# Instructions

Standing instructions from the team, most important first. Follow them for the whole session.
`
const DATA_HEADING = '# Projects, lists and recent tasks\n\n'

/** The Markdown of one rule. */
export const ruleMarkdown = ({ id, priority, projectId, paths, content }: Rule, index: number) => {
  const project = projectId === null ? '' : `, project ${projectId}`
  return `\n\n## ${index + 1}. Priority ${priority}, rule ${id}${project}\n\n${filesLine(paths)}${content}`
}

/** Says for which files a rule is, where it is not for all. */
const filesLine = (paths: string[]) =>
  paths.length === 0 ? '' : `Only for ${paths.map((glob) => `\`${glob}\``).join(', ')}:\n\n`

/** Text that the first rule, and the first list or task, adds. */
export const HEADINGS = { rules: RULES_HEADING, data: `\n\n${DATA_HEADING}${fenced([])}` }

/** The Markdown of a list or a task. */
export const dataItemMarkdown = (item: DataItem): string =>
  inertJson(item.kind === 'list' ? listLine(item.value) : taskLine(item.value))

function overview({ project, tasks, serverTime }: ContextRest): string {
  const isArchived = project?.archivedAt ? ' (archived, read-only)' : ''
  const scope = project ? `project ${project.id}${isArchived}` : 'all projects'
  const work = tasks ? [`- Tasks: ${tasks.open} open, ${tasks.inProgress} in progress`] : []
  return ['# Overview', '', `- Scope: ${scope}`, ...work, `- Time: ${serverTime}`].join('\n')
}

function dataMarkdown({ project, lists, tasks }: ContextRest): string {
  const lines = [
    ...(project ? [{ project: project.id, name: project.name }] : []),
    ...lists.map(listLine),
    ...(tasks?.recent ?? []).map(taskLine),
  ]
  return lines.length === 0 ? '' : `${DATA_HEADING}${fenced(lines)}`
}

const listLine = ({ id, ...list }: Context['lists'][number]) => ({ list: id, ...list })

/** A task in one line: the fields that identify it. */
const taskLine = ({ id, title, status, priority, labels, source, listId, updatedAt }: TaskBrief) => ({
  task: id,
  title,
  status,
  priority,
  labels,
  source,
  listId,
  updatedAt,
})

function omissionsMarkdown({ omitted, omittedCount }: ContextRest): string {
  if (omittedCount === 0) return ''
  const others = omittedCount - omitted.length
  return [
    '# Omitted',
    '',
    'These items exceed the token budget, unless another reason is given. get_rules returns all active rules.',
    '',
    ...omitted.map(omissionLine),
    // The budget reserved this line before any item was named, so it must not get longer.
    ...(others > 0 ? [`- ${others} more`] : []),
  ].join('\n')
}

/** The omissions in one line. */
export function omissionLine({ kind, id, priority, reason }: Context['omitted'][number]): string {
  if (kind === 'instruction') return `- rule ${id}, priority ${priority}`
  return id ? `- ${kind} ${id}` : `- ${kind}: ${REASONS[reason]}`
}

const REASONS = {
  budget: 'exceeds the token budget',
  limit: 'more than one response can list',
  scope: 'the key lacks the scope tasks:read',
}
