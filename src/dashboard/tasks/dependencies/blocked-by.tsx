import { ActionIcon } from '@mantine/core'
import { XIcon } from '@primer/octicons-react'
import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { type Problem, problemOf } from '../../api/problem.ts'
import { type Task, taskQuery } from '../../api/queries.ts'
import { useTask } from '../../api/use-tasks.ts'
import { toast } from '../../components/toast.ts'
import { shortTitle } from '../edits/toast-text.ts'
import { StatusCircle } from '../icons.tsx'
import { Conflict } from '../panel/conflict.tsx'
import { useTaskEdit } from '../panel/use-task-edit.ts'
import { TaskLink } from '../reports/task-link.tsx'
import { STATUS_CHOICES, statusChoiceOf } from '../status-choice.ts'
import { BlockerSelect } from './blocker-select.tsx'
import { cycleText, MAX_TITLES } from './cycle-text.ts'
import styles from './dependencies.module.css'

/** The API's limit. */
const MAX_BLOCKERS = 20

/** The tasks that have to be done before a task. */
export function BlockedBy({ task, mayWrite }: { task: Task; mayWrite: boolean }) {
  const queryClient = useQueryClient()
  const edit = useTaskEdit(task, {
    onProblem: async (problem) =>
      toast.error('Couldn’t add the task', await problemText(queryClient, problem)),
  })
  const { blockedBy } = task
  const save = (ids: string[]) => void edit.save({ blockedBy: ids })
  return (
    <div className={styles.blockers}>
      {blockedBy.length > 0 && (
        <ul aria-label="Blocked by" className={styles.list}>
          {blockedBy.map((id) => (
            <Blocker
              key={id}
              id={id}
              projectId={task.projectId}
              onRemove={mayWrite ? () => save(blockedBy.filter((other) => other !== id)) : undefined}
            />
          ))}
        </ul>
      )}
      {mayWrite && blockedBy.length < MAX_BLOCKERS && (
        <BlockerSelect task={task} onSelect={(id) => save([...blockedBy, id])} />
      )}
      <Conflict edit={edit} />
    </div>
  )
}

interface BlockerProps {
  id: string
  /** Of the blocked task. */
  projectId: string
  onRemove: (() => void) | undefined
}

function Blocker({ id, projectId, onRemove }: BlockerProps) {
  const { task: blocker, query } = useTask(id)
  const isGone = query.isError && problemOf(query.error).status === 404
  const status = blocker && STATUS_CHOICES[statusChoiceOf(blocker)]
  const title = isGone ? 'Deleted task' : (blocker?.title ?? (query.isError ? 'Couldn’t load the task' : '…'))
  return (
    <li>
      {blocker && !isGone ? (
        <>
          <span role="img" aria-label={status} title={status}>
            <StatusCircle task={blocker} />
          </span>
          <TaskLink id={id} title={title} />
          {blocker.projectId !== projectId && <span className="quiet small">in another project</span>}
        </>
      ) : (
        <span className="quiet">{title}</span>
      )}
      {onRemove && (
        <ActionIcon className="push" aria-label={`Remove ${title}`} onClick={onRemove}>
          <XIcon size={14} />
        </ActionIcon>
      )}
    </li>
  )
}

/** A cycle with the titles of its tasks: the message of the API has their IDs. */
async function problemText(queryClient: QueryClient, problem: Problem): Promise<string> {
  const { cycle } = problem.body
  if (!cycle) return problem.message
  const titles = await Promise.all(
    cycle.map(async (id, index) => {
      // The text only counts the others.
      if (index >= MAX_TITLES) return ''
      const task = await queryClient.fetchQuery(taskQuery(id)).catch(() => undefined)
      return task ? shortTitle(task.title) : 'a deleted task'
    }),
  )
  return cycleText(titles)
}
