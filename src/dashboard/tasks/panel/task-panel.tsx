import { ActionIcon, Button, Menu, Skeleton } from '@mantine/core'
import {
  ChevronDownIcon,
  ChevronUpIcon,
  GitMergeIcon,
  KebabHorizontalIcon,
  LinkIcon,
  PersonIcon,
  TrashIcon,
  XIcon,
} from '@primer/octicons-react'
import { Suspense } from 'react'
import { useLocation, useParams } from 'wouter'
import { api, dataOf } from '../../api/client.ts'
import { problemOf } from '../../api/problem.ts'
import { type Task, type TaskListItem, taskQuery } from '../../api/queries.ts'
import { useTask } from '../../api/use-tasks.ts'
import { CurlExample } from '../../components/curl-example.tsx'
import { preload } from '../../components/lazy.tsx'
import { LoadError } from '../../components/load-error.tsx'
import { LoadingLine } from '../../components/loading-line.tsx'
import { useCopy } from '../../components/use-copy.ts'
import { useMutation } from '../../components/use-mutation.ts'
import { openNeighbor, openPalette } from '../../keyboard/shortcuts.ts'
import { useSearchString } from '../../navigation/location-provider.tsx'
import { useMe } from '../../session/session.ts'
import { ClaimNote } from '../claims/claim-note.tsx'
import { useClaim } from '../claims/use-claim.ts'
import { useTaskActions } from '../edits/use-task-actions.ts'
import { StatusCircle } from '../icons.tsx'
import { deletionLock, mergeLock, statusLock, useIsManaged } from '../managed.ts'
import { listPathOf } from '../open-task.ts'
import { isSuggested } from '../reports/is-suggested.ts'
import { MergedInto } from '../reports/merged-into.tsx'
import page from '../tasks-page.module.css'
import { Conflict } from './conflict.tsx'
import { EditableTitle } from './editable-title.tsx'
import { Properties } from './properties.tsx'
import { Provenance } from './provenance.tsx'
import styles from './task-panel.module.css'
import { TextSections } from './text-sections.tsx'
import { Timeline } from './timeline.tsx'
import { useTaskEdit } from './use-task-edit.ts'
import { WriteBack } from './write-back.tsx'

const ReportSections = preload(() => import('../reports/report-sections.tsx'))

export default function TaskPanel() {
  const { taskId = '' } = useParams()
  const [pathname, navigate] = useLocation()
  const search = useSearchString()
  const { task, query } = useTask(taskId)
  const close = () => {
    const kept = new URLSearchParams(search)
    // What is edited is of this task.
    kept.delete('edit')
    navigate(`${listPathOf(pathname)}${kept.size > 0 ? `?${kept}` : ''}`)
  }
  const status = query.isError ? problemOf(query.error).status : undefined
  // An invalid id is shown like a missing task.
  const isMissing = status === 404 || status === 400

  return (
    <aside className={page.panel} aria-label="Task" data-panel>
      {task && !isMissing ? (
        <TaskDetails key={taskId} task={task} onClose={close} />
      ) : (
        <div className={styles.body}>
          <div className={styles.bar}>
            <ActionIcon className="push" onClick={close} aria-label="Close task">
              <XIcon size={18} />
            </ActionIcon>
          </div>
          {isMissing ? (
            <MissingTask id={status === 404 ? taskId : undefined} />
          ) : query.isError ? (
            <LoadError what="the task" query={query} />
          ) : (
            <>
              <div className="stack" role="status" aria-label="Loading task">
                <Skeleton height={24} width="80%" />
                <Skeleton height={14} width="50%" />
                <Skeleton height={160} mt={16} />
              </div>
              <LoadingLine what="the task" query={query} queryKey={taskQuery(taskId).queryKey} />
            </>
          )}
        </div>
      )}
    </aside>
  )
}

function MissingTask({ id }: { id: string | undefined }) {
  if (id) return <DeletedTask id={id} />
  return (
    <div className="stack">
      <h2>Task not found</h2>
      <p className="quiet">This URL is not a valid task link.</p>
    </div>
  )
}

function DeletedTask({ id }: { id: string }) {
  const { can } = useMe()
  const { mutate, isBusy } = useMutation('task', 'timeline')
  const restore = () =>
    mutate("Couldn't restore the task", () =>
      dataOf(api.POST('/api/tasks/{id}/restore', { params: { path: { id } } })),
    )
  return (
    <div className="stack">
      <h2>Task not found</h2>
      <p className="quiet">
        It was deleted, or your key does not have access to it. Deleted tasks can be restored for 30 days.
      </p>
      {can('tasks:write') && (
        <>
          <div>
            <Button variant="default" loading={isBusy} onClick={() => void restore()}>
              Restore task
            </Button>
          </div>
          <CurlExample method="POST" path={`/api/tasks/${id}/restore`} />
        </>
      )}
    </div>
  )
}

function TaskDetails({ task, onClose }: { task: Task; onClose(): void }) {
  const { can } = useMe()
  const actions = useTaskActions()
  const { claim } = useClaim(task)
  const link = useCopy(`${location.origin}/tasks/${task.id}`)
  const edit = useTaskEdit(task)
  const isManaged = useIsManaged(task)
  const mayWrite = can('tasks:write')
  const isDone = task.status === 'done'

  return (
    <div className={styles.body}>
      <div className={styles.bar}>
        {mayWrite && !statusLock([task]) && (
          <Button
            variant="default"
            leftSection={<StatusCircle task={task} />}
            onClick={() => actions.toggleDone([task])}
          >
            {isDone ? 'Reopen' : 'Mark done'}
          </Button>
        )}
        {mayWrite && !task.triaged && (
          <Button variant="default" onClick={() => void actions.change([task], { triaged: true })}>
            Accept
          </Button>
        )}
        <ActionIcon className="push" onClick={() => openNeighbor(-1)} aria-label="Previous task">
          <ChevronUpIcon size={18} />
        </ActionIcon>
        <ActionIcon onClick={() => openNeighbor(1)} aria-label="Next task">
          <ChevronDownIcon size={18} />
        </ActionIcon>
        <ActionIcon onClick={() => void link.copy()} aria-label={link.copied ? 'Copied' : 'Copy link'}>
          <LinkIcon size={16} />
        </ActionIcon>
        {mayWrite && (
          <Menu position="bottom-end">
            <Menu.Target>
              <ActionIcon aria-label="More actions">
                <KebabHorizontalIcon size={18} />
              </ActionIcon>
            </Menu.Target>
            <Menu.Dropdown>
              {task.isReady && (
                <Menu.Item leftSection={<PersonIcon size={16} />} onClick={() => void claim()}>
                  Claim
                </Menu.Item>
              )}
              <Menu.Item
                leftSection={<GitMergeIcon size={16} />}
                disabled={mergeLock([task]) !== undefined}
                title={mergeLock([task])}
                onClick={() => openPalette({ step: 'merge', tasks: [task as TaskListItem] })}
              >
                Merge into…
              </Menu.Item>
              <Menu.Item
                c="var(--red)"
                leftSection={<TrashIcon size={16} />}
                disabled={deletionLock([task]) !== undefined}
                title={deletionLock([task])}
                onClick={() => {
                  onClose()
                  void actions.remove([task])
                }}
              >
                Delete
              </Menu.Item>
            </Menu.Dropdown>
          </Menu>
        )}
        <ActionIcon onClick={onClose} aria-label="Close task">
          <XIcon size={18} />
        </ActionIcon>
      </div>
      <EditableTitle task={task} edit={edit} mayWrite={mayWrite && !isManaged} />
      <Provenance task={task} />
      <WriteBack task={task} />
      <ClaimNote task={task} mayWrite={mayWrite} />
      <Conflict edit={edit} />
      {task.mergedInto && <MergedInto task={task} into={task.mergedInto} mayWrite={mayWrite} />}
      <Properties task={task} edit={edit} mayWrite={mayWrite} />
      <TextSections task={task} edit={edit} mayWrite={mayWrite} />
      {(task.reports > 1 || isSuggested(task)) && (
        <Suspense fallback={<Skeleton height={160} />}>
          <ReportSections task={task} mayWrite={mayWrite} />
        </Suspense>
      )}
      <Timeline task={task} />
    </div>
  )
}
