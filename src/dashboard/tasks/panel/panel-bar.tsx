import { ActionIcon, Button, Menu } from '@mantine/core'
import {
  ChevronDownIcon,
  ChevronUpIcon,
  CircleSlashIcon,
  ClockIcon,
  GitMergeIcon,
  KebabHorizontalIcon,
  LinkIcon,
  PersonIcon,
  TrashIcon,
  XIcon,
} from '@primer/octicons-react'
import type { Task, TaskListItem } from '../../api/queries.ts'
import { useCopy } from '../../components/use-copy.ts'
import { openNeighbor, openPalette, type PaletteStep } from '../../keyboard/shortcuts.ts'
import { useMe } from '../../session/session.ts'
import { useClaim } from '../claims/use-claim.ts'
import { type AnyTask, useTaskActions } from '../edits/use-task-actions.ts'
import { StatusCircle } from '../icons.tsx'
import { deletionLock, mergeLock, statusLock } from '../managed.ts'
import { changeToChoice } from '../status-choice.ts'
import { FollowItem } from './follow-item.tsx'
import styles from './task-panel.module.css'

interface PanelBarProps {
  task: Task
  /** All that its row stands for. */
  group: AnyTask[]
  mayWrite: boolean
  onClose(): void
}

/** What can be done with the open task, or with all tasks of its row. */
export function PanelBar({ task, group, mayWrite, onClose }: PanelBarProps) {
  const actions = useTaskActions()
  const link = useCopy(`${location.origin}/tasks/${task.id}`)
  const isLocked = statusLock(group) !== undefined
  const isPerson = Boolean(useMe().me?.user)
  return (
    <div className={styles.bar}>
      {mayWrite && !isLocked && (
        <Button
          variant="default"
          leftSection={<StatusCircle task={task} />}
          onClick={() => actions.toggleDone(group)}
        >
          {group.every(({ status }) => status === 'done') ? 'Reopen' : 'Mark done'}
        </Button>
      )}
      {mayWrite && group.some(({ triaged }) => !triaged) && (
        <Button variant="default" onClick={() => void actions.change(group, { triaged: true })}>
          Accept
        </Button>
      )}
      <ActionIcon className="push" onClick={() => openNeighbor(-1)} aria-label="Previous task">
        <ChevronUpIcon size={18} />
      </ActionIcon>
      <ActionIcon onClick={() => openNeighbor(1)} aria-label="Next task">
        <ChevronDownIcon size={18} />
      </ActionIcon>
      <ActionIcon
        className={mayWrite || isPerson ? styles.link : undefined}
        onClick={() => void link.copy()}
        aria-label={link.copied ? 'Copied' : 'Copy link'}
      >
        <LinkIcon size={16} />
      </ActionIcon>
      {(mayWrite || isPerson) && (
        <MoreActions
          task={task}
          group={group}
          mayWrite={mayWrite}
          isLocked={isLocked}
          onCopyLink={() => void link.copy()}
          onClose={onClose}
        />
      )}
      <ActionIcon onClick={onClose} aria-label="Close task">
        <XIcon size={18} />
      </ActionIcon>
    </div>
  )
}

interface MoreActionsProps extends PanelBarProps {
  isLocked: boolean
  onCopyLink(): void
}

function MoreActions({ onCopyLink, ...props }: MoreActionsProps) {
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon aria-label="More actions">
          <KebabHorizontalIcon size={18} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item leftSection={<LinkIcon size={16} />} onClick={onCopyLink}>
          Copy link
        </Menu.Item>
        <FollowItem taskId={props.task.id} />
        {props.mayWrite && <Changes {...props} />}
      </Menu.Dropdown>
    </Menu>
  )
}

function Changes({ task, group, isLocked, onClose }: Omit<MoreActionsProps, 'onCopyLink'>) {
  const actions = useTaskActions()
  const { claim } = useClaim(task)
  const inPalette = (step: PaletteStep, tasks: AnyTask[]) =>
    openPalette({ step, tasks: tasks as TaskListItem[] })
  return (
    <>
      {task.isReady && (
        <Menu.Item leftSection={<PersonIcon size={16} />} onClick={() => void claim()}>
          Claim
        </Menu.Item>
      )}
      <Menu.Item leftSection={<ClockIcon size={16} />} onClick={() => inPalette('snooze', group)}>
        Snooze…
      </Menu.Item>
      {!isLocked && (
        <Menu.Item
          leftSection={<CircleSlashIcon size={16} />}
          onClick={() => void actions.change(group, changeToChoice('not_planned', group))}
        >
          Not planned
        </Menu.Item>
      )}
      <Menu.Item
        leftSection={<GitMergeIcon size={16} />}
        disabled={mergeLock(group) !== undefined}
        title={mergeLock(group)}
        onClick={() => inPalette('merge', group)}
      >
        Merge into…
      </Menu.Item>
      <Menu.Item
        c="var(--red)"
        leftSection={<TrashIcon size={16} />}
        disabled={deletionLock(group) !== undefined}
        title={deletionLock(group)}
        onClick={() => {
          onClose()
          void actions.remove(group)
        }}
      >
        Delete
      </Menu.Item>
    </>
  )
}
