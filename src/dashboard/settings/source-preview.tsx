import { Badge } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import { problemOf } from '../api/problem.ts'
import { ErrorText } from '../components/error-text.tsx'
import { FieldErrors } from '../components/field-errors.tsx'
import { plural } from '../lib/plural.ts'
import { Markdown } from '../markdown/markdown.tsx'
import styles from './settings.module.css'
import type { TestResult } from './source-queries.ts'

interface SourcePreviewProps {
  /** Whether there is an example. */
  hasExample: boolean
  /** The test of the example. */
  query: UseQueryResult<TestResult>
  /** Whether the source is new, and so has no tasks yet. */
  isNew: boolean
  isFeedback: boolean
}

/** The tasks that the example would make. */
export function SourcePreview({ hasExample, query, isNew, isFeedback }: SourcePreviewProps) {
  return (
    <section className={styles.section} aria-label="Preview" style={{ position: 'sticky', top: 0 }}>
      <h2>Preview</h2>
      {!hasExample && <p className="quiet">The task appears here once there is an example.</p>}
      {hasExample && query.isError && <ErrorText>{problemOf(query.error).message}</ErrorText>}
      {hasExample && query.data && <Result result={query.data} isNew={isNew} isFeedback={isFeedback} />}
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
      <FieldErrors errors={errors} />
      {tasks.slice(0, MAX_SHOWN).map(({ item, task, explanation }) => (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be focusable.
        <article key={item} className={`stack ${styles.payload}`} aria-label={task.title} tabIndex={0}>
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
          {task.description && <Markdown text={task.description} />}
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
