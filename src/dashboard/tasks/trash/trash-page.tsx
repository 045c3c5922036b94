import { Button, Select } from '@mantine/core'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useRef } from 'react'
import { useLocation } from 'wouter'
import { type Project, projectsQuery } from '../../api/queries.ts'
import { serverNow } from '../../api/server-clock.ts'
import { CurlExample } from '../../components/curl-example.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { LoadError } from '../../components/load-error.tsx'
import { Loading } from '../../components/loading.tsx'
import pageStyles from '../../components/page.module.css'
import { RelativeTime } from '../../components/relative-time.tsx'
import { usePageTitle } from '../../components/use-page-title.ts'
import { useRowKeys } from '../../keyboard/use-row-keys.ts'
import { Link } from '../../navigation/link.tsx'
import { formatSearch } from '../../navigation/search-params.ts'
import { useMe } from '../../session/session.ts'
import { SourceIcon } from '../icons.tsx'
import { useFilters } from '../use-filters.ts'
import styles from './trash-page.module.css'
import { type DeletedTask, deletedTasks, trashQuery } from './trash-query.ts'
import { useRestore } from './use-restore.ts'

const DAY_MS = 24 * 60 * 60_000
const RETENTION_DAYS = 30

export default function TrashPage() {
  const { projectId } = useFilters()
  const { can } = useMe()
  const query = useInfiniteQuery({ ...trashQuery(projectId), enabled: can('tasks:read') })
  const { data: projects = [] } = useQuery(projectsQuery)
  const { restore, busyIds } = useRestore()
  const list = useRef<HTMLUListElement>(null)
  usePageTitle('Trash')
  const rows = deletedTasks(query.data?.pages ?? [])
  const mayWrite = can('tasks:write')
  useRowKeys({ list, count: rows.length, selector: 'button', key: 'r', onKey: (button) => button.click() })

  return (
    <section className={pageStyles.page} aria-label="Trash">
      <header className={styles.head}>
        <div className={styles.text}>
          <h1>Trash</h1>
          <p className="quiet">
            Deleted tasks can be restored for 30 days, then they are removed permanently.
          </p>
        </div>
        <ProjectFilter projectId={projectId} projects={projects} />
      </header>
      {query.isPending && can('tasks:read') && (
        <Loading what="the trash" height={160} query={query} queryKey={trashQuery(projectId).queryKey} />
      )}
      {query.isError && rows.length === 0 && <LoadError what="the trash" query={query} />}
      {query.isSuccess && rows.length === 0 && !query.hasNextPage && <EmptyTrash projectId={projectId} />}
      <ul ref={list} className={styles.rows}>
        {rows.map((row) => (
          <TrashRow
            key={row.task.id}
            row={row}
            project={
              projectId === undefined && projects.length > 1
                ? projects.find(({ id }) => id === row.task.projectId)?.name
                : undefined
            }
            isBusy={busyIds.has(row.task.id)}
            onRestore={mayWrite ? () => void restore(row.task) : undefined}
          />
        ))}
      </ul>
      {query.isFetchNextPageError && (
        <LoadError what="more deleted tasks" query={{ ...query, refetch: query.fetchNextPage }} />
      )}
      {query.hasNextPage && !query.isFetchNextPageError && (
        <div>
          <Button
            variant="default"
            loading={query.isFetchingNextPage}
            onClick={() => void query.fetchNextPage()}
          >
            Show more
          </Button>
        </div>
      )}
    </section>
  )
}

interface TrashRowProps {
  row: DeletedTask
  /** Set if the trash contains several projects. */
  project: string | undefined
  isBusy: boolean
  onRestore: (() => void) | undefined
}

function TrashRow({ row: { task, deletion }, project, isBusy, onRestore }: TrashRowProps) {
  const deletedAt = deletion?.createdAt ?? task.updatedAt
  return (
    <li className={styles.row}>
      <SourceIcon task={task} />
      <div className={styles.text}>
        <div className={`breakable ${styles.title}`} title={task.title} dir="auto">
          {task.title}
        </div>
        <div className="quiet small">
          Deleted {deletion && `by ${deletion.actor.name} `}
          <RelativeTime dateTime={deletedAt} />
          {project && ` · ${project}`} · {timeLeft(deletedAt)}
        </div>
      </div>
      {onRestore && (
        <Button
          variant="default"
          aria-label={`Restore ${task.title}`}
          aria-busy={isBusy}
          onClick={() => !isBusy && onRestore()}
        >
          Restore
        </Button>
      )}
    </li>
  )
}

function timeLeft(deletedAt: string): string {
  // The clock of the service is known to the second, and may seem to be before the deletion.
  const elapsed = Math.max(0, serverNow() - Date.parse(deletedAt))
  const days = RETENTION_DAYS - Math.floor(elapsed / DAY_MS)
  return days > 1 ? `${days} days left` : 'Less than a day left'
}

function EmptyTrash({ projectId }: { projectId: string | undefined }) {
  return (
    <EmptyState
      title="The trash is empty"
      description="Deleted tasks appear here."
      action={
        <Link to="/tasks" search={{ projectId }} className="target">
          View tasks
        </Link>
      }
    >
      <CurlExample path={`/api/tasks?deleted=true${projectId ? `&projectId=${projectId}` : ''}`} />
    </EmptyState>
  )
}

const ALL_PROJECTS = 'all'

function ProjectFilter({ projectId, projects }: { projectId: string | undefined; projects: Project[] }) {
  const [, navigate] = useLocation()
  if (projects.length < 2) return null
  return (
    <Select
      aria-label="Project"
      allowDeselect={false}
      searchable={projects.length > 10}
      data={[
        { value: ALL_PROJECTS, label: 'All projects' },
        ...projects.map(({ id, name }) => ({ value: id, label: name })),
      ]}
      value={projectId ?? ALL_PROJECTS}
      onChange={(value) =>
        value && navigate(`/trash${formatSearch(value === ALL_PROJECTS ? {} : { projectId: value })}`)
      }
    />
  )
}
