import { Button, Skeleton } from '@mantine/core'
import type { ReactNode } from 'react'
import type { Schema } from '../api/client.ts'
import { useTask } from '../api/use-tasks.ts'
import { CopyBlock } from '../components/copy-block.tsx'
import { FieldErrors } from '../components/field-errors.tsx'
import { Link } from '../navigation/link.tsx'
import { useMe } from '../session/session.ts'
import { useSources } from '../settings/use-sources.ts'
import type { Delivery } from './delivery-text.ts'
import styles from './incoming.module.css'

/** The others are found in the project. */
const MAX_TASKS = 10

interface DeliveryDetailsProps {
  delivery: Delivery
  /** With its payload; undefined while that is loaded. */
  whole: Schema<'DeliveryWithPayload'> | undefined
  replay: ReactNode
}

/** The tasks of a delivery, its facts, and its payload. */
export function DeliveryDetails({ delivery, whole, replay }: DeliveryDetailsProps) {
  const { can } = useMe()
  const { tasks, senderId, attempts, routing, errors, outcome } = delivery
  const payload = whole?.payload ?? null
  const canMakeSource = useCanMakeSource(delivery) && payload !== null && !whole?.payloadCut
  return (
    <>
      {tasks.length > 0 && (
        <ul aria-label="Tasks" className={styles.tasks}>
          {tasks.slice(0, MAX_TASKS).map((task) => (
            <TaskLink key={task.taskId} {...task} />
          ))}
          {tasks.length > MAX_TASKS && (
            <li className="quiet small">{(tasks.length - MAX_TASKS).toLocaleString()} more</li>
          )}
        </ul>
      )}
      <dl className={styles.facts}>
        {senderId !== null && (
          <>
            <dt>Sender’s ID</dt>
            <dd>
              <code>{senderId}</code>
            </dd>
          </>
        )}
        {attempts > 0 && (
          <>
            <dt>Failed attempts</dt>
            <dd>{attempts.toLocaleString()}</dd>
          </>
        )}
        {routing && (
          <>
            <dt>Routing</dt>
            <dd>{routing.explanation}</dd>
          </>
        )}
      </dl>
      {outcome !== 'rejected' && <FieldErrors errors={errors} />}
      {can('admin') && !whole && <Skeleton height={120} />}
      {whole && payload === null && <p className="quiet small">Its payload is not stored.</p>}
      {payload !== null && (
        <div className={styles.payload}>
          <CopyBlock
            caption={whole?.payloadCut ? 'First 256 KiB of the payload:' : 'Payload:'}
            text={typeof payload === 'string' ? payload : JSON.stringify(payload, null, 2)}
          />
        </div>
      )}
      <div className="row row-wrap">
        {replay}
        {canMakeSource && (
          <Button
            variant="default"
            renderRoot={(props) => (
              <Link to="/settings/sources" search={{ source: 'new', delivery: delivery.id }} {...props} />
            )}
          >
            Make a source from this
          </Button>
        )}
      </div>
    </>
  )
}

function TaskLink({ taskId, created }: Schema<'DeliveryTask'>) {
  const { task, query } = useTask(taskId)
  const verb = created ? 'Created' : 'Updated'
  if (query.isError && !task) return <li className="quiet">{verb} a task that was deleted</li>
  return (
    <li>
      <span className="quiet">{verb}</span>{' '}
      <Link to={`/tasks/${taskId}`} className="target breakable">
        {task?.title ?? 'Task'}
      </Link>
    </li>
  )
}

/** Of what was not understood, and of what a door takes that anyone with its secret can send to. */
function useCanMakeSource({ receiver, sourceId, outcome }: Delivery): boolean {
  const { can } = useMe()
  const source = useSources().find(({ id }) => id === sourceId)
  if (!can('admin') || receiver === 'codehost') return false
  return outcome === 'rejected' || sourceId === null || source?.verify.scheme === 'bearer'
}
