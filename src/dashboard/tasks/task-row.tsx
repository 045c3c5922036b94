import { Checkbox } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type MouseEvent, memo } from 'react'
import { projectsQuery, type TaskListItem } from '../api/queries.ts'
import { Moment } from '../parts/moment.tsx'
import { PriorityBars, SourceMark, StatusCircle } from './marks.tsx'
import styles from './task-list.module.css'

interface TaskRowProps {
  task: TaskListItem
  index: number
  total: number
  start: number
  height: number
  isOpen: boolean
  isFocused: boolean
  isSelected: boolean
  isSelecting: boolean
  showsProject: boolean
  mayWrite: boolean
  onOpen(id: string): void
  onToggle(task: TaskListItem): void
  onSelect(id: string, isRange: boolean): void
}

const LABELS_SHOWN = 2

export const TaskRow = memo(function TaskRow(props: TaskRowProps) {
  const { task, index, total, start, height, isOpen, isFocused, isSelected, isSelecting, mayWrite } = props
  const isDone = task.status === 'done'
  const classes = [
    styles.row,
    isDone && styles.done,
    isOpen && styles.open,
    isSelected && styles.selected,
    isFocused && styles.focused,
    isSelecting && styles.selecting,
  ]
  const select = (event: MouseEvent) => {
    if (!event.shiftKey && !event.metaKey && !event.ctrlKey) return
    event.preventDefault()
    props.onSelect(task.id, event.shiftKey)
  }
  return (
    // biome-ignore lint/a11y/useSemanticElements: see the list.
    <div
      role="listitem"
      aria-posinset={index + 1}
      aria-setsize={total}
      className={classes.filter(Boolean).join(' ')}
      style={{ transform: `translateY(${start}px)`, height }}
    >
      {mayWrite && (
        <span className={`${styles.tool} ${styles.check}`}>
          <Checkbox
            size="xs"
            aria-label={`Select ${task.title}`}
            checked={isSelected}
            onChange={(event) =>
              props.onSelect(task.id, event.nativeEvent instanceof PointerEvent && event.nativeEvent.shiftKey)
            }
          />
        </span>
      )}
      <button
        type="button"
        className={`plain-button ${styles.tool}`}
        disabled={!mayWrite}
        aria-label={isDone ? `Open again: ${task.title}` : `Mark done: ${task.title}`}
        onClick={() => props.onToggle(task)}
      >
        <StatusCircle status={task.status} />
      </button>
      <Link
        to="/tasks/$taskId"
        params={{ taskId: task.id }}
        search={true}
        className={styles.title}
        dir="auto"
        title={task.title.length > 60 ? task.title : undefined}
        preload={false}
        onClick={select}
      >
        {task.title}
      </Link>
      {task.labels.slice(0, LABELS_SHOWN).map((label) => (
        <span key={label} className={styles.label}>
          {label}
        </span>
      ))}
      {task.labels.length > LABELS_SHOWN && (
        <span className={styles.label} title={task.labels.join(', ')}>
          +{task.labels.length - LABELS_SHOWN}
        </span>
      )}
      <span className={styles.tail}>
        {props.showsProject && <ProjectName id={task.projectId} />}
        <SourceMark task={task} />
        <PriorityBars priority={task.priority} />
        <span className={styles.age}>
          <Moment at={task.createdAt} isShort />
        </span>
      </span>
    </div>
  )
})

function ProjectName({ id }: { id: string }) {
  const { data } = useQuery(projectsQuery)
  if (!data || data.length < 2) return null
  return <span className={styles.project}>{data.find((project) => project.id === id)?.name}</span>
}
