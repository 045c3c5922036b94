import { Button } from '@mantine/core'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { itemsOf, projectsQuery, type Task, type TaskListItem } from '../../api/queries.ts'
import { LoadError } from '../../components/load-error.tsx'
import { RelativeTime } from '../../components/relative-time.tsx'
import { isShortcut } from '../../keyboard/shortcuts.ts'
import { plural } from '../../lib/plural.ts'
import { Markdown } from '../../markdown/markdown.tsx'
import { openTaskId } from '../open-task.ts'
import { isSuggested } from './is-suggested.ts'
import { countsText, detailsText, mergeOf } from './merging.ts'
import { reportsQuery, type SimilarTask, similarQuery } from './queries.ts'
import styles from './report-sections.module.css'
import { TaskLink } from './task-link.tsx'
import { useMerge } from './use-merge.ts'

interface SectionProps {
  task: Task
  mayWrite: boolean
}

/** The reports of a task, and similar tasks to merge. */
export default function ReportSections(props: SectionProps) {
  const { task } = props
  const { data: projects } = useQuery(projectsQuery)
  const project = projects?.find(({ id }) => id === task.projectId)
  return (
    <>
      {task.reports > 1 && <Reports {...props} />}
      {isSuggested(task) && project && project.groupFeedback !== 'off' && <Similar {...props} />}
    </>
  )
}

function Reports({ task, mayWrite }: SectionProps) {
  const query = useInfiniteQuery(reportsQuery(task))
  const { unmerge, isBusy } = useMerge()
  const reports = itemsOf(query.data)
  const { sentiments = [], appVersions = [] } = query.data?.pages[0]?.counts ?? {}
  const counts = [countsText(sentiments), countsText(appVersions, 'with ')].filter(Boolean)
  return (
    <section className={styles.section} aria-label="Reports">
      <h3>{plural(task.reports, 'report')}</h3>
      {counts.length > 0 && <p className={styles.counts}>{counts.join(' · ')}</p>}
      {query.isError && <LoadError what="the reports" query={query} />}
      <ul className={styles.list}>
        {reports.map((report) => (
          <li key={report.id}>
            <div className={styles.head}>
              <TaskLink id={report.id} title={report.title} />
              <span className="quiet small">
                <RelativeTime dateTime={report.openedAt} />
              </span>
              {mayWrite && (
                <Button
                  variant="subtle"
                  size="compact-sm"
                  disabled={isBusy}
                  aria-label={`Unmerge ${report.title}`}
                  onClick={() => void unmerge(report, task.id)}
                >
                  Unmerge
                </Button>
              )}
            </div>
            <ReportText report={report} />
          </li>
        ))}
      </ul>
      {query.hasNextPage && (
        <Button
          variant="default"
          loading={query.isFetchingNextPage}
          onClick={() => void query.fetchNextPage()}
        >
          Show more
        </Button>
      )}
    </section>
  )
}

const MAX_TEXT = 1_000

/** The note and what it was sent with; nothing that the title says already. */
function ReportText({ report }: { report: TaskListItem }) {
  const { note, sentiment, app_version: version } = propertiesOf(report)
  const text = textOf(note ?? report.description, report.title)
  const shown = text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text
  const details = [sentiment, version].filter((value) => typeof value === 'string').join(', ')
  return (
    <>
      {text &&
        // What people send is plain text.
        (note === undefined ? (
          <Markdown text={shown} itemUrl={report.externalUrl} />
        ) : (
          <p className={styles.note} dir="auto">
            {shown}
          </p>
        ))}
      {details && <p className="quiet small">{details}</p>}
    </>
  )
}

/** A text whose first line is the title says it twice. */
function textOf(value: unknown, title: string): string {
  const text = typeof value === 'string' ? value.trim() : ''
  return text === title || text.startsWith(`${title}\n`) ? text.slice(title.length).trim() : text
}

function Similar({ task, mayWrite }: SectionProps) {
  const query = useQuery(similarQuery(task.id))
  const { merge, isBusy } = useMerge()
  const similar = query.data?.data ?? []
  const mergeWith = (other: SimilarTask['task']) => {
    const decided = mergeOf(task, other)
    if (decided && !isBusy) void merge([decided.report], decided.target)
  }
  const first = mayWrite ? similar.find(({ task: other }) => mergeOf(task, other)) : undefined
  useMergeKey(task.id, first && (() => mergeWith(first.task)))
  if (similar.length === 0) return null
  return (
    <section className={styles.section} aria-label="Similar tasks">
      <h3>Similar</h3>
      <ul className={styles.list}>
        {similar.map(({ task: other, similarity, ...feedback }) => (
          <li key={other.id}>
            <div className={styles.head}>
              <TaskLink id={other.id} title={other.title} />
              <span className="quiet small">
                {Math.round(similarity * 100)}% similar · {detailsText(other, feedback)}
              </span>
              {mayWrite && (
                <Button
                  variant="default"
                  size="compact-sm"
                  disabled={isBusy || !mergeOf(task, other)}
                  title={titleOf(task, other)}
                  aria-label={`Merge with ${other.title}`}
                  onClick={() => mergeWith(other)}
                >
                  Merge
                </Button>
              )}
            </div>
          </li>
        ))}
      </ul>
      {first && <p className="quiet small about-keys">Press d to merge the first one.</p>}
    </section>
  )
}

function titleOf(task: Task, other: SimilarTask['task']): string {
  const decided = mergeOf(task, other)
  if (!decided) return 'Both tasks have reports. Unmerge the reports of one of them first.'
  return decided.target === task ? 'Merges it into this task' : 'Merges this task into it'
}

/** The key to merge the open task. While the panel still shows the task before, it is that of the list. */
function useMergeKey(taskId: string, onPress: (() => void) | undefined) {
  const latest = useRef(onPress)
  latest.current = onPress
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (!latest.current || event.key !== 'd' || event.repeat || !isShortcut(event)) return
      if (openTaskId() !== taskId) return
      event.preventDefault()
      latest.current()
    }
    // Before the list, which has the same key for tasks without similar ones.
    addEventListener('keydown', onKey, { capture: true })
    return () => removeEventListener('keydown', onKey, { capture: true })
  }, [taskId])
}

const propertiesOf = ({ metadata }: Partial<Task>) =>
  (metadata?.properties ?? {}) as { note?: unknown; sentiment?: unknown; app_version?: unknown }
