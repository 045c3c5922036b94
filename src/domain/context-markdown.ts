import type { Context, TaskBrief } from '../schemas/context.ts'
import type { Rule } from '../schemas/rule.ts'
import type { ContextItem } from './context-budget.ts'
import { fenced, inertJson } from './untrusted.ts'

/** The Markdown for an assistant at the start of a session: rules first, then the current state, then data. */
export function contextMarkdown(context: Context): string {
  return [
    rulesMarkdown(context.instructions),
    overview(context),
    dataMarkdown(context),
    omissionsMarkdown(context),
  ]
    .filter((section) => section !== '')
    .join('\n\n')
    .concat('\n')
}

/** The active rules in order. */
export function rulesMarkdown(rules: Rule[]): string {
  if (rules.length === 0) return '# Instructions\n\nThere are no active instructions.'
  return `${RULES_HEADING}${rules.map(ruleMarkdown).join('')}`
}

const RULES_HEADING =
  '# Instructions\n\nStanding instructions from the team, most important first. Follow them for the whole session.'
const DATA_HEADING = '# Projects, lists and recent tasks\n\n'

const ruleMarkdown = ({ id, priority, content }: Rule, index: number) =>
  `\n\n## ${index + 1}. Priority ${priority}, rule ${id}\n\n${content}`

/** Text that the first item of a kind adds. */
export const HEADINGS: Record<ContextItem['kind'], string> = {
  instruction: RULES_HEADING,
  list: `\n\n${DATA_HEADING}${fenced([])}`,
  task: `\n\n${DATA_HEADING}${fenced([])}`,
}

/** The Markdown of one item. */
export function itemMarkdown(item: ContextItem, index: number): string {
  if (item.kind === 'instruction') return ruleMarkdown(item.value, index)
  return inertJson(item.kind === 'list' ? listLine(item.value) : taskLine(item.value))
}

function overview({ project, tasks, serverTime }: Context): string {
  const isArchived = project?.archivedAt ? ' (archived, read-only)' : ''
  const scope = project ? `project ${project.id}${isArchived}` : 'all projects'
  const work = tasks ? [`- Tasks: ${tasks.open} open, ${tasks.inProgress} in progress`] : []
  return ['# Overview', '', `- Scope: ${scope}`, ...work, `- Time: ${serverTime}`].join('\n')
}

function dataMarkdown({ project, lists, tasks }: Context): string {
  const lines = [
    ...(project ? [{ project: project.id, name: project.name }] : []),
    ...lists.map(listLine),
    ...(tasks?.recent ?? []).map(taskLine),
  ]
  return lines.length === 0 ? '' : `${DATA_HEADING}${fenced(lines)}`
}

const listLine = ({ id, ...list }: Context['lists'][number]) => ({ list: id, ...list })

/** A task in one line: the fields that identify it. */
export const taskLine = ({ id, title, status, priority, labels, source, listId, updatedAt }: TaskBrief) => ({
  task: id,
  title,
  status,
  priority,
  labels,
  source,
  listId,
  updatedAt,
})

function omissionsMarkdown({ omitted, omittedCount }: Context): string {
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
