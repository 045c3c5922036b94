import {
  ArrowSwitchIcon,
  CheckCircleIcon,
  CommentIcon,
  GitMergeIcon,
  GitPullRequestClosedIcon,
  GitPullRequestDraftIcon,
  GitPullRequestIcon,
  IssueClosedIcon,
  IssueDraftIcon,
  IssueOpenedIcon,
  PlugIcon,
  SkipIcon,
  SmileyFrustratedIcon,
  SmileyGrinIcon,
  SmileyNeutralIcon,
  SparkleIcon,
  TrashIcon,
} from '@primer/octicons-react'
import type { ComponentType } from 'react'
import type { Task, TaskListItem } from '../api/queries.ts'
import styles from './icons.module.css'
import { statusChoiceOf } from './status-choice.ts'

type IconTask = Pick<
  TaskListItem,
  | 'source'
  | 'labels'
  | 'status'
  | 'closedReason'
  | 'sourceState'
  | 'codehostPrNumber'
  | 'codehostIssueNumber'
  | 'isDraft'
>

interface TaskIcon {
  Icon: ComponentType<{ size?: number; fill?: string }>
  colour: string
  label: string
}

/** The icon of a task's source. */
export function iconOf(task: IconTask): TaskIcon {
  return ICONS[task.source](task)
}

const ICONS: Record<IconTask['source'], (task: IconTask) => TaskIcon> = {
  api: () => ({ Icon: PlugIcon, colour: 'var(--quiet)', label: 'Created over the API' }),
  codehost: codehostIcon,
  analytics: ({ labels }) => sentimentIcon(labels),
  dashboard: () => ({ Icon: HandIcon, colour: 'var(--quiet)', label: 'Created in the dashboard' }),
  assistant: () => ({ Icon: SparkleIcon, colour: 'var(--quiet)', label: 'Created by an assistant' }),
  webhook: () => ({ Icon: PlugIcon, colour: 'var(--quiet)', label: 'Sent by a source' }),
}

function codehostIcon({ codehostPrNumber, closedReason, sourceState, isDraft }: IconTask): TaskIcon {
  const kind = codehostPrNumber === null ? 'Issue' : 'Pull request'
  if (sourceState === 'deleted')
    return { Icon: TrashIcon, colour: 'var(--red)', label: `${kind}, deleted at the code host` }
  if (sourceState === 'transferred')
    return { Icon: ArrowSwitchIcon, colour: 'var(--quiet)', label: `${kind}, moved to another repository` }
  if (kind === 'Pull request') {
    if (closedReason === 'merged')
      return { Icon: GitMergeIcon, colour: 'var(--purple)', label: 'Pull request, merged' }
    if (closedReason)
      return {
        Icon: GitPullRequestClosedIcon,
        colour: 'var(--red)',
        label: 'Pull request, closed without merging',
      }
    if (isDraft)
      return { Icon: GitPullRequestDraftIcon, colour: 'var(--quiet)', label: 'Pull request, draft' }
    return { Icon: GitPullRequestIcon, colour: 'var(--green)', label: 'Pull request, open' }
  }
  if (closedReason === 'not_planned' || closedReason === 'duplicate') {
    const why = closedReason === 'duplicate' ? 'closed as a duplicate' : 'not planned'
    return { Icon: SkipIcon, colour: 'var(--quiet)', label: `Issue, ${why}` }
  }
  if (closedReason) return { Icon: IssueClosedIcon, colour: 'var(--purple)', label: 'Issue, closed' }
  return { Icon: IssueOpenedIcon, colour: 'var(--green)', label: 'Issue, open' }
}

function sentimentIcon(labels: string[]): TaskIcon {
  if (labels.includes('loved'))
    return { Icon: SmileyGrinIcon, colour: 'var(--green)', label: 'Feedback: loved' }
  if (labels.includes('frustrated'))
    return { Icon: SmileyFrustratedIcon, colour: 'var(--red)', label: 'Feedback: frustrated' }
  if (labels.includes('meh'))
    return { Icon: SmileyNeutralIcon, colour: 'var(--amber)', label: 'Feedback: meh' }
  return { Icon: CommentIcon, colour: 'var(--quiet)', label: 'Feedback' }
}

/** A raised hand, for tasks created in the dashboard. */
function HandIcon({ size = 16, fill }: { size?: number; fill?: string }) {
  return (
    <svg width={size} height={size} viewBox="0 0 16 16" fill={fill} aria-hidden="true">
      <rect x="4.200" y="3" width="1.600" height="7" rx=".8" />
      <rect x="6.400" y="1.200" width="1.600" height="8" rx=".8" />
      <rect x="8.600" y="1.800" width="1.600" height="8" rx=".8" />
      <rect x="10.800" y="3.400" width="1.600" height="7" rx=".8" />
      <path d="M4.200 8.500h8.200V11a4 4 0 0 1-4 4H8a4.500 4.500 0 0 1-3.800-2.100L1.700 9.600a.9.9 0 0 1 1.400-1.100L4.200 9.700z" />
    </svg>
  )
}

export function SourceIcon({ task, size = 16 }: { task: IconTask; size?: number }) {
  const { Icon, colour, label } = iconOf(task)
  return (
    <span className={styles.icon} role="img" aria-label={label} title={label}>
      <Icon size={size} fill={colour} />
    </span>
  )
}

/** Three bars; only high priority is colored. */
export function PriorityBars({ priority }: { priority: Task['priority'] }) {
  const filled = { low: 1, medium: 2, high: 3 }[priority]
  const label = `Priority ${priority}`
  return (
    <span className={styles.bars} data-high={priority === 'high'} role="img" aria-label={label} title={label}>
      {[1, 2, 3].map((bar) => (
        <i key={bar} data-filled={bar <= filled} />
      ))}
    </span>
  )
}

export function StatusCircle({ task }: { task: Pick<Task, 'status' | 'closedReason'> }) {
  const status = statusChoiceOf(task)
  if (status === 'not_planned') return <SkipIcon size={18} fill="var(--quiet)" aria-hidden />
  if (status === 'done') return <CheckCircleIcon size={18} fill="var(--green)" aria-hidden />
  if (status === 'in_progress') return <IssueDraftIcon size={18} fill="var(--amber)" aria-hidden />
  return <span className={styles.circle} aria-hidden />
}
