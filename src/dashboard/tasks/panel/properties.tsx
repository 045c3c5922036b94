import { Select } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { listsQuery, projectsQuery, type Task } from '../../api/queries.ts'
import { useAllLists } from '../../api/use-all-lists.ts'
import { RelativeTime } from '../../components/relative-time.tsx'
import { BlockedBy } from '../dependencies/blocked-by.tsx'
import { useTaskActions } from '../edits/use-task-actions.ts'
import { PRIORITIES } from '../filters.ts'
import { useLabelColors } from '../label-colors.tsx'
import { isTied, statusLock, useIsManaged } from '../managed.ts'
import { NameTags } from '../name-tags.tsx'
import { changeToChoice, STATUS_CHOICES, type StatusChoice, statusChoiceOf } from '../status-choice.ts'
import styles from './task-panel.module.css'
import type { TaskEdit } from './use-task-edit.ts'

const toOptions = (names: Record<string, string>) =>
  Object.entries(names).map(([value, label]) => ({ value, label }))

export function Properties({ task, edit, mayWrite }: { task: Task; edit: TaskEdit; mayWrite: boolean }) {
  const actions = useTaskActions()
  const isManaged = useIsManaged(task)
  const mayLabel = mayWrite && !isManaged
  const lock = statusLock([task])
  const labelColors = useLabelColors(task.projectId, {
    isEnabled: task.source === 'codehost' && task.labels.length > 0,
  })
  const { data: projects } = useQuery(projectsQuery)
  const project = projects?.find(({ id }) => id === task.projectId)
  const selectProps = { variant: 'unstyled', readOnly: !mayWrite, allowDeselect: false, size: 'sm' } as const
  return (
    <dl className={styles.properties}>
      <dt>Status</dt>
      <dd>
        <Select
          {...selectProps}
          aria-label="Status"
          disabled={lock !== undefined}
          title={lock}
          data={toOptions(STATUS_CHOICES)}
          value={statusChoiceOf(task)}
          onChange={(choice) =>
            choice && void actions.change([task], changeToChoice(choice as StatusChoice, [task]))
          }
        />
      </dd>
      <dt>Priority</dt>
      <dd>
        <Select
          {...selectProps}
          aria-label="Priority"
          data={toOptions(PRIORITIES)}
          value={task.priority}
          onChange={(priority) =>
            priority && void actions.change([task], { priority: priority as Task['priority'] })
          }
        />
      </dd>
      <dt>Project</dt>
      <dd className="breakable" dir="auto">
        {project?.name}
      </dd>
      <dt>List</dt>
      <dd>
        <ListSelect
          task={task}
          staysInProject={isManaged || isTied(task)}
          onMove={(listId) => void actions.change([task], { listId })}
          selectProps={selectProps}
        />
      </dd>
      <dt>Labels</dt>
      <dd>
        <NameTags
          kind="labels"
          projectId={task.projectId}
          aria-label="Labels"
          variant="unstyled"
          readOnly={!mayLabel}
          placeholder={task.labels.length === 0 ? (mayLabel ? 'Add label' : 'None') : undefined}
          value={task.labels}
          colors={labelColors}
          onChange={(labels) => void edit.save({ labels })}
        />
      </dd>
      {(mayLabel || task.assignees.length > 0) && (
        <>
          <dt>Assignees</dt>
          <dd>
            <NameTags
              kind="assignees"
              projectId={task.projectId}
              aria-label="Assignees"
              variant="unstyled"
              readOnly={!mayLabel}
              placeholder={task.assignees.length === 0 ? 'Add assignee' : undefined}
              value={task.assignees}
              onChange={(assignees) => void edit.save({ assignees })}
            />
          </dd>
        </>
      )}
      {(mayWrite || task.blockedBy.length > 0) && (
        <>
          <dt className={task.blockedBy.length > 0 ? styles.top : undefined}>Blocked by</dt>
          <dd>
            <BlockedBy task={task} mayWrite={mayWrite} />
          </dd>
        </>
      )}
      {task.externalId && (
        <>
          <dt>External ID</dt>
          <dd className="breakable">
            <code>{task.externalId}</code>
          </dd>
        </>
      )}
      <dt>Updated</dt>
      <dd>
        <RelativeTime dateTime={task.updatedAt} />
      </dd>
    </dl>
  )
}

interface ListSelectProps {
  task: Task
  staysInProject: boolean
  selectProps: object
  onMove(listId: string): void
}

function ListSelect({ task, staysInProject, selectProps, onMove }: ListSelectProps) {
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
  const isListed = allowedLists.some(({ lists }) => lists.some(({ id }) => id === task.listId))
  const project = projects.find(({ id }) => id === task.projectId)
  return (
    <Select
      {...selectProps}
      aria-label="List"
      onDropdownOpen={() => setOpen(true)}
      data={data}
      value={isListed ? task.listId : null}
      placeholder={project?.name ?? ''}
      searchable={data.length > 3}
      onChange={(listId) => listId && listId !== task.listId && onMove(listId)}
    />
  )
}
