import { CommentIcon, QuestionIcon } from '@primer/octicons-react'
import {
  memo,
  type FocusEvent as ReactFocusEvent,
  type MouseEvent as ReactMouseEvent,
  Suspense,
  useState,
} from 'react'
import type { TaskListItem } from '../../api/queries.ts'
import { preload } from '../../components/lazy.tsx'
import { RelativeTime } from '../../components/relative-time.tsx'
import { plural } from '../../lib/plural.ts'
import { sumOf } from '../../lib/sum.ts'
import { PriorityBars, SourceIcon, StatusCircle } from '../icons.tsx'
import { type LabelColors, LabelDot } from '../label-colors.tsx'
import { statusLock } from '../managed.ts'
import { isSuggested } from '../reports/is-suggested.ts'
import { STATUS_CHOICES, statusChoiceOf } from '../status-choice.ts'
import { labelsOfRow } from './labels-of-row.ts'
import styles from './task-list.module.css'

interface TaskRowProps {
  task: TaskListItem
  index: number
  total: number
  start: number
  height: number
  isOpen: boolean
  /** Whether keys act on this row. */
  isHighlighted: boolean
  /** Whether Tab stops at this row (roving tabindex). */
  isTabStop: boolean
  isSelected: boolean
  isSelecting: boolean
  /** The project name, if the list contains several projects. */
  project: string | undefined
  labelColors: LabelColors
  mayWrite: boolean
  /** Of the task beside the list. */
  address: string
  /** Those that the row stands for, if they can be several. */
  tasks: TaskListItem[] | undefined
  onOpen(id: string): void
  onFocus(id: string): void
  onToggle(task: TaskListItem): void
  onSelect(id: string, isRange: boolean): void
}

const LABELS_SHOWN = 2
const SimilarCount = preload(() => import('../reports/similar-count.tsx'))
const ReportFacts = preload(() => import('../reports/report-facts.tsx'))

export const TaskRow = memo(function TaskRow(props: TaskRowProps) {
  const { task, index, total, start, height, isOpen, isHighlighted, isSelected, isSelecting, mayWrite } =
    props
  const [isPointedAt, setIsPointedAt] = useState(false)
  const { tasks = [task] } = props
  const reports = sumOf(tasks.map((one) => one.reports))
  const tabIndex = props.isTabStop ? 0 : -1
  const isDone = task.status === 'done'
  const lock = statusLock([task])
  const labels = labelsOfRow(task)
  const isNotPlanned = statusChoiceOf(task) === 'not_planned'
  const number = task.codehostPrNumber ?? task.codehostIssueNumber
  const classes = [
    styles.row,
    isDone && styles.done,
    isOpen && styles.open,
    isSelected && styles.selected,
    isHighlighted && styles.highlighted,
    isSelecting && styles.selecting,
  ]
  const openOrSelect = (event: ReactMouseEvent) => {
    event.preventDefault()
    if (event.shiftKey || event.metaKey || event.ctrlKey) props.onSelect(task.id, event.shiftKey)
    else props.onOpen(task.id)
  }
  return (
    // biome-ignore lint/a11y/useSemanticElements: see task-list.tsx.
    <div
      role="listitem"
      data-task={task.id}
      aria-current={isHighlighted || undefined}
      onFocus={(event) => isGivenBack(event) || props.onFocus(task.id)}
      onPointerEnter={() => setIsPointedAt(true)}
      onPointerLeave={() => setIsPointedAt(false)}
      aria-posinset={index + 1}
      aria-setsize={total}
      className={classes.filter(Boolean).join(' ')}
      style={{ transform: `translateY(${start}px)`, height }}
    >
      {mayWrite && (
        <label className={`${styles.tool} ${styles.check}`}>
          <input
            type="checkbox"
            tabIndex={tabIndex}
            aria-label={`Select ${task.title}`}
            checked={isSelected}
            onChange={(event) =>
              props.onSelect(task.id, event.nativeEvent instanceof MouseEvent && event.nativeEvent.shiftKey)
            }
          />
        </label>
      )}
      <button
        type="button"
        className={`plain-button ${styles.tool}`}
        disabled={!mayWrite || lock !== undefined}
        title={lock ?? (isNotPlanned ? STATUS_CHOICES.not_planned : undefined)}
        tabIndex={tabIndex}
        aria-label={isDone ? `Reopen: ${task.title}` : `Mark done: ${task.title}`}
        onClick={() => props.onToggle(task)}
      >
        <StatusCircle task={task} />
      </button>
      {/* Not the router's link, which re-renders on every navigation. */}
      <a
        href={props.address}
        className={styles.title}
        tabIndex={tabIndex}
        dir="auto"
        title={task.title.length > 60 ? task.title : undefined}
        onClick={openOrSelect}
      >
        {task.title}
      </a>
      {number !== null && <span className={styles.number}>#{number}</span>}
      {task.isDraft && !task.closedReason && <span className={styles.label}>Draft</span>}
      {isBlocked(task) && <span className={styles.label}>Blocked</span>}
      {labels.slice(0, LABELS_SHOWN).map((label) => (
        <span key={label} className={styles.label}>
          <LabelDot color={props.labelColors.get(label.toLowerCase())} />
          {label}
        </span>
      ))}
      {labels.length > LABELS_SHOWN && (
        <span className={`${styles.label} ${styles.more}`} title={labels.join(', ')}>
          +{labels.length - LABELS_SHOWN}
        </span>
      )}
      <span className={styles.tail}>
        {props.project && <span className={styles.project}>{props.project}</span>}
        {!props.tasks && isSuggested(task) && (
          <Suspense>
            <SimilarCount
              task={task}
              isAsked={isOpen || isHighlighted || isPointedAt}
              className={styles.label}
            />
          </Suspense>
        )}
        {task.question && (
          <span className={styles.question} role="img" aria-label="Needs an answer" title="Needs an answer">
            <QuestionIcon size={14} />
            <span className={styles.questionText}>Needs answer</span>
          </span>
        )}
        {task.claim && (
          <span className={`${styles.label} ${styles.claim}`} title={`Claimed by ${task.claim.by.name}`}>
            {task.claim.by.name} · <RelativeTime dateTime={task.claim.expiresAt} isShort />
          </span>
        )}
        {reports > 1 && (
          <>
            <Suspense>
              <ReportFacts tasks={tasks} />
            </Suspense>
            <span className={styles.reports} title={plural(reports, 'report')}>
              ×{reports.toLocaleString()}
            </span>
          </>
        )}
        {task.commentCount > 0 && (
          <span className={styles.comments} role="img" aria-label={plural(task.commentCount, 'comment')}>
            <CommentIcon size={14} />
            {task.commentCount}
          </span>
        )}
        {task.assignees[0] !== undefined && (
          <span
            className={styles.assignees}
            role="img"
            aria-label={`Assigned to ${task.assignees.join(', ')}`}
            title={`Assigned to ${task.assignees.join(', ')}`}
          >
            <span className={styles.initials}>{initialsOf(task.assignees[0])}</span>
            {task.assignees.length > 1 && `+${task.assignees.length - 1}`}
          </span>
        )}
        {task.author && <span className={styles.author}>{task.author.name}</span>}
        <SourceIcon task={task} />
        <PriorityBars priority={task.priority} />
        <span className={styles.age}>
          <RelativeTime dateTime={task.openedAt} isShort />
        </span>
      </span>
    </div>
  )
})

/** Whether a dialog gives the focus back to where it was opened: the highlight may have moved on by then. */
const isGivenBack = ({ relatedTarget }: ReactFocusEvent) =>
  relatedTarget instanceof Element && relatedTarget.closest('dialog') !== null

/** Nothing else keeps an open task with blockers from being ready. */
const isBlocked = ({ status, blockedBy, isReady, question }: TaskListItem) =>
  status === 'open' && blockedBy.length > 0 && !isReady && !question

/** Of the first two words, or the first letter. */
const initialsOf = (name: string) =>
  (name.match(/[\p{L}\p{N}]+/gu) ?? [name])
    .slice(0, 2)
    .map((word) => [...word][0])
    .join('')
    .toUpperCase()
