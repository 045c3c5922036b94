import { Badge, Textarea } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { problemOf } from '../api/problem.ts'
import { ErrorText } from '../components/error-text.tsx'
import { plural } from '../lib/plural.ts'
import { DeliveryErrors } from './delivery-item.tsx'
import styles from './settings.module.css'
import { type SourceTest, sourceTestQuery, type TestResult } from './source-queries.ts'

interface SourcePreviewProps {
  /** The payload as it was pasted. */
  text: string
  onText(text: string): void
  /** Whether it is the latest delivery. */
  isLatest: boolean
  /** Whether the source is new, and so has no tasks yet. */
  isNew: boolean
  payload: { payload: unknown } | undefined
  definition: SourceTest['source']
}

/** A payload, and the tasks that it would make. */
export function SourcePreview({ text, onText, isLatest, isNew, payload, definition }: SourcePreviewProps) {
  const body = payload && { source: definition, ...payload }
  const query = useQuery(sourceTestQuery(body))
  const isInvalid = text.trim() !== '' && !payload
  return (
    <section className={styles.section} aria-label="Preview" style={{ position: 'sticky', top: 0 }}>
      <Textarea
        label="Payload"
        description={isLatest ? 'The latest delivery of this source.' : 'A request body from the sender.'}
        placeholder='{"title": "Export fails"}'
        autosize
        minRows={8}
        maxRows={20}
        spellCheck={false}
        value={text}
        error={isInvalid && 'Enter valid JSON.'}
        onChange={(event) => onText(event.currentTarget.value)}
      />
      {payload && query.isError && <ErrorText>{problemOf(query.error).message}</ErrorText>}
      {payload && query.data && (
        <Result result={query.data} isNew={isNew} isFeedback={definition.mapping === 'feedback'} />
      )}
    </section>
  )
}

interface ResultProps {
  result: TestResult
  isNew: boolean
  isFeedback: boolean
}

function Result({ result, isNew, isFeedback }: ResultProps) {
  const { outcome, tasks, filtered, errors } = result
  return (
    <div role="status" className="stack">
      {outcome === 'filtered' && (
        <p className="quiet">
          {isFeedback ? 'Only feedback_submitted events create tasks.' : 'The filter excludes this payload.'}{' '}
          No task is created.
        </p>
      )}
      {outcome === 'rejected' && <p>This delivery would be rejected.</p>}
      <DeliveryErrors errors={errors} />
      {tasks.slice(0, MAX_SHOWN).map(({ item, task, explanation }) => (
        <article key={item} className={styles.payload} aria-label={task.title}>
          <strong>{task.title}</strong>
          <div style={{ display: 'flex', gap: 4, flexWrap: 'wrap' }}>
            {task.priority && <Badge variant="default">{task.priority}</Badge>}
            {task.status && <Badge variant="default">{task.status}</Badge>}
            {task.labels?.map((label) => (
              <Badge key={label} variant="light" tt="none">
                {label}
              </Badge>
            ))}
          </div>
          {task.description && <pre style={{ whiteSpace: 'pre-wrap', margin: 0 }}>{task.description}</pre>}
          {task.externalUrl && <div className="small breakable">{task.externalUrl}</div>}
          <div className="quiet small">
            {/* The test of unsaved templates doesn't know the tasks of their source. */}
            {isNew || task.externalId === undefined
              ? explanation
              : `Creates a task, or updates the one with the external ID ${task.externalId}.`}
          </div>
        </article>
      ))}
      {tasks.length > MAX_SHOWN && (
        <p className="quiet">And {plural(tasks.length - MAX_SHOWN, 'more task')}.</p>
      )}
      {outcome !== 'filtered' && filtered > 0 && (
        <p className="quiet">The filter excludes {plural(filtered, 'item')}.</p>
      )}
    </div>
  )
}

const MAX_SHOWN = 10
