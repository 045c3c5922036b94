import { Select, type SelectProps } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { listsQuery, projectsQuery, type Task } from '../../api/queries.ts'
import { useAllLists } from '../../api/use-all-lists.ts'
import { RelativeTime } from '../../components/relative-time.tsx'
import { useCopy } from '../../components/use-copy.ts'
import { BlockedBy } from '../dependencies/blocked-by.tsx'
import { type AnyTask, type NameChange, useTaskActions } from '../edits/use-task-actions.ts'
import { PRIORITIES } from '../filters.ts'
import { PriorityBars, StatusCircle } from '../icons.tsx'
import { useLabelColors } from '../label-colors.tsx'
import { isTied, statusLock, useIsManaged } from '../managed.ts'
import { NameTags } from '../name-tags.tsx'
import { changeToChoice, STATUS_CHOICES, type StatusChoice, statusChoiceOf } from '../status-choice.ts'
import styles from './properties.module.css'
import type { TaskEdit } from './use-task-edit.ts'

const toOptions = (names: Record<string, string>) =>
  Object.entries(names).map(([value, label]) => ({ value, label }))

interface PropertiesProps {
  task: Task
  /** All that its row stands for, which change with it. */
  group: AnyTask[]
  edit: TaskEdit
  mayWrite: boolean
}

/** One line of chips, which wraps; each is the control of its property. */
export function Properties({ task, group, edit, mayWrite }: PropertiesProps) {
  const actions = useTaskActions()
  const isManaged = useIsManaged(task)
  const mayLabel = mayWrite && !isManaged
  const lock = statusLock(group)
  const saveNames = (field: NameChange['field'], names: string[]) => {
    if (group.length === 1) return void edit.save({ [field]: names })
    const added = names.filter((name) => !task[field].includes(name))
    const removed = task[field].filter((name) => !names.includes(name))
    for (const name of added) void actions.changeNames(group, { field, name, isAdded: true })
    for (const name of removed) void actions.changeNames(group, { field, name, isAdded: false })
  }
  const labelColors = useLabelColors(task.projectId, {
    isEnabled: task.source === 'codehost' && task.labels.length > 0,
  })
  const chipProps = { readOnly: !mayWrite, allowDeselect: false } as const
  return (
    <section className={styles.chips} aria-label="Properties">
      <SelectChip
        {...chipProps}
        aria-label="Status"
        leftSection={<StatusCircle task={task} />}
        disabled={lock !== undefined}
        title={lock ?? 'Status'}
        data={toOptions(STATUS_CHOICES)}
        text={STATUS_CHOICES[statusChoiceOf(task)]}
        value={statusChoiceOf(task)}
        onChange={(choice) =>
          choice && void actions.change(group, changeToChoice(choice as StatusChoice, group))
        }
      />
      <SelectChip
        {...chipProps}
        aria-label="Priority"
        title="Priority"
        leftSection={<PriorityBars priority={task.priority} />}
        data={toOptions(PRIORITIES)}
        text={PRIORITIES[task.priority]}
        value={task.priority}
        onChange={(priority) =>
          priority && void actions.change(group, { priority: priority as Task['priority'] })
        }
      />
      <ListChip
        task={task}
        staysInProject={isManaged || isTied(task)}
        onMove={(listId) => void actions.change(group, { listId })}
        chipProps={chipProps}
      />
      {(mayLabel || task.labels.length > 0) && (
        <NameTags
          kind="labels"
          projectId={task.projectId}
          className={styles.names ?? ''}
          isCompact
          aria-label="Labels"
          variant="unstyled"
          readOnly={!mayLabel}
          placeholder={task.labels.length === 0 ? 'Add label' : undefined}
          value={task.labels}
          colors={labelColors}
          onChange={(labels) => saveNames('labels', labels)}
        />
      )}
      {(mayLabel || task.assignees.length > 0) && (
        <NameTags
          kind="assignees"
          projectId={task.projectId}
          className={styles.names ?? ''}
          isCompact
          aria-label="Assignees"
          variant="unstyled"
          readOnly={!mayLabel}
          placeholder={task.assignees.length === 0 ? 'Add assignee' : undefined}
          value={task.assignees}
          onChange={(assignees) => saveNames('assignees', assignees)}
        />
      )}
      {(mayWrite || task.blockedBy.length > 0) && <BlockedBy task={task} mayWrite={mayWrite} />}
      {task.externalId && <ExternalId id={task.externalId} />}
      <span className={styles.updated}>
        Updated <RelativeTime dateTime={task.updatedAt} />
      </span>
    </section>
  )
}

/** As wide as its text. */
function SelectChip({ text, ...props }: SelectProps & { text: string }) {
  return (
    <Select
      {...props}
      className={styles.chip ?? ''}
      variant="unstyled"
      size="sm"
      rightSection={null}
      leftSectionPointerEvents="none"
      inputSize={String(Math.max(2, text.length))}
      comboboxProps={{ width: 'max-content', position: 'bottom-start' }}
    />
  )
}

function ExternalId({ id }: { id: string }) {
  const { copied, copy } = useCopy(id)
  return (
    <button
      type="button"
      className={`plain-button ${styles.externalId}`}
      title={id}
      aria-label={copied ? 'Copied' : `Copy external ID ${id}`}
      onClick={() => void copy()}
    >
      <code>{copied ? 'Copied' : id}</code>
    </button>
  )
}

interface ListChipProps {
  task: Task
  staysInProject: boolean
  chipProps: Partial<SelectProps>
  onMove(listId: string): void
}

function ListChip({ task, staysInProject, chipProps, onMove }: ListChipProps) {
  const [isOpen, setOpen] = useState(false)
  const { data: projects = [] } = useQuery(projectsQuery)
  const { data: ownLists = [] } = useQuery(listsQuery(task.projectId))
  const allLists = useAllLists({ isEnabled: isOpen })
  // As does a task that the code host manages, a report, or one that has reports.
  const allowedLists = allLists
    .map(({ project, lists }) => ({ project, lists: project.id === task.projectId ? ownLists : lists }))
    .filter(({ project }) => !staysInProject || project.id === task.projectId)
  const data = allowedLists.map(({ project, lists }) => ({
    group: project.name,
    items: lists.map(({ id, name }) => ({ value: id, label: name })),
  }))
  const own = ownLists.find(({ id }) => id === task.listId)
  const isListed = allowedLists.some(({ lists }) => lists.some(({ id }) => id === task.listId))
  const project = projects.find(({ id }) => id === task.projectId)
  return (
    <span className={styles.list}>
      <bdi className={styles.project}>{project?.name}</bdi>
      <span aria-hidden>/</span>
      <SelectChip
        {...chipProps}
        aria-label="List"
        title="List"
        onDropdownOpen={() => setOpen(true)}
        data={data}
        text={own?.name ?? ''}
        value={isListed ? task.listId : null}
        placeholder={own?.name ?? ''}
        searchable={data.length > 3}
        onChange={(listId) => listId && listId !== task.listId && onMove(listId)}
      />
    </span>
  )
}
