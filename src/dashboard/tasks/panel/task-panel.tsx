import { ActionIcon, Button, Skeleton } from '@mantine/core'
import { XIcon } from '@primer/octicons-react'
import { Suspense } from 'react'
import { useLocation, useParams } from 'wouter'
import { api, dataOf } from '../../api/client.ts'
import { problemOf } from '../../api/problem.ts'
import { type Task, taskQuery } from '../../api/queries.ts'
import { useTask } from '../../api/use-tasks.ts'
import { CurlExample } from '../../components/curl-example.tsx'
import { preload } from '../../components/lazy.tsx'
import { LoadError } from '../../components/load-error.tsx'
import { LoadingLine } from '../../components/loading-line.tsx'
import { useMutation } from '../../components/use-mutation.ts'
import { useSearchString } from '../../navigation/location-provider.tsx'
import { useMe } from '../../session/session.ts'
import { ClaimNote } from '../claims/claim-note.tsx'
import { useIsManaged } from '../managed.ts'
import { listPathOf } from '../open-task.ts'
import { isSuggested } from '../reports/is-suggested.ts'
import { MergedInto } from '../reports/merged-into.tsx'
import page from '../tasks-page.module.css'
import { EqualNote } from '../triage/equal-note.tsx'
import { useOpenGroup } from '../triage/use-open-group.ts'
import { Conflict } from './conflict.tsx'
import { EditableTitle } from './editable-title.tsx'
import { PanelBar } from './panel-bar.tsx'
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
  const edit = useTaskEdit(task)
  const group = useOpenGroup(task)
  const isManaged = useIsManaged(task)
  const mayWrite = can('tasks:write')

  return (
    <div className={styles.body}>
      <PanelBar task={task} group={group} mayWrite={mayWrite} onClose={onClose} />
      {group.length > 1 && <EqualNote group={group} mayWrite={mayWrite} />}
      <EditableTitle task={task} edit={edit} mayWrite={mayWrite && !isManaged} />
      <Provenance task={task} />
      <WriteBack task={task} />
      <ClaimNote task={task} mayWrite={mayWrite} />
      <Conflict edit={edit} />
      {task.mergedInto && <MergedInto task={task} into={task.mergedInto} mayWrite={mayWrite} />}
      <Properties task={task} group={group} edit={edit} mayWrite={mayWrite} />
      <TextSections task={task} edit={edit} mayWrite={mayWrite} />
      {(task.reports > 1 || isSuggested(task)) && (
        <Suspense fallback={<Skeleton height={160} />}>
          <ReportSections task={task} mayWrite={mayWrite} />
        </Suspense>
      )}
      <Timeline task={task} edit={edit} />
    </div>
  )
}
