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
  if (rules.length === 0) return '# Instructions\n\nThere are no active instructions here.'
  return `${RULES_HEADING}${rules.map(ruleMarkdown).join('')}`
}

const RULES_HEADING =
  '# Instructions\n\nStanding instructions of the team, the most important first. Follow them for the whole session.'
const DATA_HEADING = '# Names, lists, and the tasks that changed last\n\n'

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
  const isArchived = project?.archivedAt ? ', which is archived: it can be read, not written' : ''
  const scope = project ? `the project ${project.id}${isArchived}` : 'all projects'
  const work = tasks ? [`- Tasks: ${tasks.open} open, ${tasks.inProgress} in progress`] : []
  return ['# Where you stand', '', `- This is for ${scope}`, ...work, `- Time: ${serverTime}`].join('\n')
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
    '# Left out',
    '',
    'Beyond the budget, where nothing else is said. get_rules returns every active rule.',
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
  budget: 'beyond the budget',
  limit: 'more than one answer holds',
  scope: 'this key lacks the scope tasks:read',
}
