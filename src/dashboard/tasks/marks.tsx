import {
  IconBug,
  IconCircleCheck,
  IconCircleDashed,
  IconCircleOff,
  IconGitMerge,
  IconGitPullRequest,
  IconGitPullRequestClosed,
  IconHandStop,
  IconMessageCircle,
  IconMoodEmpty,
  IconMoodHappy,
  IconMoodSad,
  IconPlug,
  IconSparkles,
  IconTransfer,
  IconTrash,
} from '@tabler/icons-react'
import type { ComponentType } from 'react'
import type { Task, TaskListItem } from '../api/queries.ts'
import styles from './marks.module.css'

type Shown = Pick<
  TaskListItem,
  'source' | 'labels' | 'status' | 'closedReason' | 'sourceState' | 'codehostPrNumber' | 'codehostIssueNumber'
>

interface MarkOf {
  Icon: ComponentType<{ size?: number; stroke?: number; color?: string }>
  colour: string
  words: string
}

/** Where a task came from, as a shape, a colour and words. */
export function markOf(task: Shown): MarkOf {
  if (task.source === 'codehost') return codehostMark(task)
  if (task.source === 'analytics') return sentimentMark(task.labels)
  if (task.source === 'api') return { Icon: IconPlug, colour: 'var(--quiet)', words: 'Came over the API' }
  if (task.source === 'assistant')
    return { Icon: IconSparkles, colour: 'var(--quiet)', words: 'Made by an assistant' }
  return { Icon: IconHandStop, colour: 'var(--quiet)', words: 'Made here by hand' }
}

function codehostMark({ codehostPrNumber, closedReason, sourceState }: Shown): MarkOf {
  const kind = codehostPrNumber === null ? 'Issue' : 'Pull request'
  if (sourceState === 'deleted')
    return { Icon: IconTrash, colour: 'var(--red)', words: `${kind}, deleted at the code host` }
  if (sourceState === 'transferred')
    return { Icon: IconTransfer, colour: 'var(--quiet)', words: `${kind}, moved to another repository` }
  if (kind === 'Pull request') {
    if (closedReason === 'merged')
      return { Icon: IconGitMerge, colour: 'var(--purple)', words: 'Pull request, merged' }
    if (closedReason)
      return {
        Icon: IconGitPullRequestClosed,
        colour: 'var(--red)',
        words: 'Pull request, closed without merging',
      }
    return { Icon: IconGitPullRequest, colour: 'var(--green)', words: 'Pull request, open' }
  }
  if (closedReason === 'not_planned' || closedReason === 'duplicate') {
    const why = closedReason === 'duplicate' ? 'closed as a duplicate' : 'not planned'
    return { Icon: IconCircleOff, colour: 'var(--quiet)', words: `Issue, ${why}` }
  }
  if (closedReason) return { Icon: IconCircleCheck, colour: 'var(--purple)', words: 'Issue, closed' }
  return { Icon: IconBug, colour: 'var(--green)', words: 'Issue, open' }
}

function sentimentMark(labels: string[]): MarkOf {
  if (labels.includes('loved'))
    return { Icon: IconMoodHappy, colour: 'var(--green)', words: 'Feedback: loved' }
  if (labels.includes('frustrated'))
    return { Icon: IconMoodSad, colour: 'var(--red)', words: 'Feedback: frustrated' }
  if (labels.includes('meh')) return { Icon: IconMoodEmpty, colour: 'var(--amber)', words: 'Feedback: meh' }
  return { Icon: IconMessageCircle, colour: 'var(--quiet)', words: 'Feedback' }
}

export function SourceMark({ task, size = 16 }: { task: Shown; size?: number }) {
  const { Icon, colour, words } = markOf(task)
  return (
    <span className={styles.mark} role="img" aria-label={words} title={words}>
      <Icon size={size} stroke={1.8} color={colour} />
    </span>
  )
}

/** Three bars; high alone takes colour. */
export function PriorityBars({ priority }: { priority: Task['priority'] }) {
  const filled = { low: 1, medium: 2, high: 3 }[priority]
  const words = `Priority ${priority}`
  return (
    <span className={styles.bars} data-high={priority === 'high'} role="img" aria-label={words} title={words}>
      {[1, 2, 3].map((bar) => (
        <i key={bar} data-filled={bar <= filled} />
      ))}
    </span>
  )
}

export function StatusCircle({ status }: { status: Task['status'] }) {
  if (status === 'done') return <IconCircleCheck size={18} stroke={1.8} color="var(--green)" aria-hidden />
  if (status === 'in_progress')
    return <IconCircleDashed size={18} stroke={2} color="var(--amber)" aria-hidden />
  return <span className={styles.circle} aria-hidden />
}
