import type { Context, TaskBrief } from '../schemas/context.ts'
import type { Rule } from '../schemas/rule.ts'
import { fenced } from './untrusted.ts'

/** How many omissions the text names one by one; `omitted` has them all. */
const NAMED_OMISSIONS = 20

/** What an assistant reads when a session begins: the rules first, then where it stands, then data. */
export function contextMarkdown(context: Context): string {
  return [rulesMarkdown(context.instructions), standing(context), data(context), omissions(context.omitted)]
    .filter((section) => section !== '')
    .join('\n\n')
    .concat('\n')
}

/** The active rules, in their order. */
export function rulesMarkdown(rules: Rule[]): string {
  if (rules.length === 0) return '# Instructions\n\nThere are no active instructions here.'
  return [
    '# Instructions',
    'Standing instructions of the team, the most important first. Follow them for the whole session.',
    ...rules.map(
      ({ id, priority, content }, index) => `## ${index + 1}. Priority ${priority}, rule ${id}\n\n${content}`,
    ),
  ].join('\n\n')
}

function standing({ project, tasks, serverTime }: Context): string {
  const isArchived = project?.archivedAt ? ', which is archived: it can be read, not written' : ''
  const where = project ? `the project ${project.id}${isArchived}` : 'all projects'
  const work = tasks ? [`- Tasks: ${tasks.open} open, ${tasks.inProgress} in progress`] : []
  return ['# Where you stand', '', `- This is for ${where}`, ...work, `- Time: ${serverTime}`].join('\n')
}

function data({ project, lists, tasks }: Context): string {
  const lines = [
    ...(project ? [{ project: project.id, name: project.name }] : []),
    ...lists.map(({ id, ...list }) => ({ list: id, ...list })),
    ...(tasks?.recent ?? []).map(taskLine),
  ]
  return lines.length === 0 ? '' : `# Names, lists, and the tasks that changed last\n\n${fenced(lines)}`
}

/** A task in one line: what tells it from others. */
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

function omissions(omitted: Context['omitted']): string {
  if (omitted.length === 0) return ''
  const lines = omitted.slice(0, NAMED_OMISSIONS).map(({ kind, id, priority, reason }) => {
    if (kind === 'instruction') return `- rule ${id}, priority ${priority}`
    return id ? `- ${kind} ${id}` : `- ${kind}: ${REASONS[reason]}`
  })
  const others = omitted.length - lines.length
  const tail = others > 0 ? [`- and ${others} more; the field omitted names them all`] : []
  return [
    '# Left out',
    '',
    'Beyond the budget, where nothing else is said. get_rules answers every active rule.',
    '',
    ...lines,
    ...tail,
  ].join('\n')
}

const REASONS = {
  budget: 'beyond the budget',
  limit: 'more than one answer holds',
  scope: 'this key lacks the scope tasks:read',
}
