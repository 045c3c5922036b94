import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { api, dataOf } from '../../api/client.ts'
import { type Task, taskQuery } from '../../api/queries.ts'
import { clockTime } from '../../components/clock-time.ts'
import { useMutation } from '../../components/use-mutation.ts'
import { useMe } from '../../session/session.ts'
import styles from './task-panel.module.css'

/** The stream does not report when something is written. */
const POLL_MS = 1_000

/** What is still to be written to the code host, or could not be. */
export function WriteBack({ task }: { task: Task }) {
  const { can } = useMe()
  const { mutate, isBusy } = useMutation('task')
  const { state, error, nextAttemptAt } = task.writeBack ?? {}
  useQuery({ ...taskQuery(task.id), refetchInterval: state === 'pending' ? POLL_MS : false })
  if (state === undefined || state === 'done' || state === 'dropped') return null
  const retry = () =>
    mutate("Couldn't retry", () =>
      dataOf(api.POST('/api/tasks/{id}/write-back/retry', { params: { path: { id: task.id } } })),
    )
  if (state === 'pending' && !error) {
    return (
      <p className="quiet small" role="status" style={{ margin: 0 }}>
        Updating the code host
      </p>
    )
  }
  return (
    <div className={styles.writeBack} role={state === 'failed' ? 'alert' : 'status'}>
      <span className="breakable">
        <strong>
          {state === 'failed' ? 'Couldn’t update the code host.' : 'The code host isn’t updated yet.'}
        </strong>{' '}
        {error?.message}
        {state === 'pending' &&
          ` Inlet tries again ${nextAttemptAt ? `at ${clockTime(nextAttemptAt, { hasSeconds: true })}` : 'automatically'}.`}
      </span>
      {can('tasks:write') && (
        <div>
          <Button variant="default" size="compact-sm" loading={isBusy} onClick={() => void retry()}>
            {state === 'failed' ? 'Retry' : 'Retry now'}
          </Button>
        </div>
      )}
    </div>
  )
}
