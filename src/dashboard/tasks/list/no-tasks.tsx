import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useLocation } from 'wouter'
import { listsQuery, projectsQuery, type TaskFilters } from '../../api/queries.ts'
import { CurlExample } from '../../components/curl-example.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { LoadError } from '../../components/load-error.tsx'
import { openNewTask } from '../../keyboard/shortcuts.ts'
import { plural } from '../../lib/plural.ts'
import { Link, type Path } from '../../navigation/link.tsx'
import { formatSearch } from '../../navigation/search-params.ts'
import { useMe } from '../../session/session.ts'
import { formatFilters, isDefaultView, isFiltered, isNotDone, validFilters } from '../filters.ts'
import styles from './no-tasks.module.css'
import { totalQuery } from './total-query.ts'

/** Says why a list is empty, and what to do next. */
export default function NoTasks({ filters }: { filters: TaskFilters }) {
  if (!isFiltered(filters)) return <FirstRun filters={filters} />
  return isDefaultView(filters) ? <NothingOpen filters={filters} /> : <NoMatches filters={filters} />
}

function NothingOpen({ filters }: { filters: TaskFilters }) {
  const { can } = useMe()
  const query = useQuery(totalQuery(withAnyStatus(filters)))
  if (query.isError) return <LoadError what="tasks" query={query} />
  if (!query.data) return null
  if (query.data.total === 0) return <FirstRun filters={filters} />
  return (
    <EmptyState
      isCentered
      title="Nothing is open"
      description="Every task here is done."
      action={
        <div className="row row-wrap">
          {can('tasks:write') && <Button onClick={openNewTask}>New task</Button>}
          <ShowDone filters={filters} total={query.data} />
        </div>
      }
    />
  )
}

function NoMatches({ filters }: { filters: TaskFilters }) {
  const [, navigate] = useLocation()
  const { projectId, listId } = filters
  const hidesDone = isNotDone(filters.status)
  const { data: total } = useQuery({ ...totalQuery(withAnyStatus(filters)), enabled: hidesDone })
  return (
    <EmptyState
      isCentered
      title="No matching tasks"
      {...(hidesDone && { description: 'Only tasks that are open or in progress are shown.' })}
      action={
        <div className="row row-wrap">
          {hidesDone && total?.total !== 0 && <ShowDone filters={filters} total={total} />}
          <Button variant="default" onClick={() => navigate(`/tasks${formatSearch({ projectId, listId })}`)}>
            Clear filters
          </Button>
        </div>
      }
    >
      <CurlExample path={`/api/tasks?${searchParamsOf(filters)}`} caption="Same query with curl:" />
    </EmptyState>
  )
}

const withAnyStatus = (filters: TaskFilters): TaskFilters => validFilters({ ...filters, status: undefined })

interface ShowDoneProps {
  filters: TaskFilters
  /** Of tasks with any status. */
  total: { total?: number; totalIsExact?: boolean } | undefined
}

function ShowDone({ filters, total }: ShowDoneProps) {
  const [, navigate] = useLocation()
  const count = total?.totalIsExact ? total.total : undefined
  return (
    <Button variant="default" onClick={() => navigate(`/tasks${formatFilters(withAnyStatus(filters))}`)}>
      Show {count === undefined ? 'done tasks' : plural(count, 'done task')}
    </Button>
  )
}

function FirstRun({ filters: { projectId, listId } }: { filters: TaskFilters }) {
  const { can } = useMe()
  const { data: lists } = useQuery({ ...listsQuery(projectId ?? ''), enabled: Boolean(projectId) })
  const targetListId = listId ?? lists?.find(({ isDefault }) => isDefault)?.id
  const body = { title: 'Hello, Inlet', ...(targetListId && { listId: targetListId }) }
  return (
    <EmptyState
      isCentered
      title="No tasks yet"
      description="Bug reports, feedback, issues and pull requests appear here as tasks."
      action={can('tasks:write') && <Button onClick={openNewTask}>Create your first task</Button>}
    >
      {!listId && <WaysIn projectId={projectId} />}
      <CurlExample path="/api/tasks" body={body} />
      <a href="/docs" className="target">
        API reference
      </a>
    </EmptyState>
  )
}

/** Where tasks can come from, as far as the key may set it up. */
function WaysIn({ projectId }: { projectId: string | undefined }) {
  const { can, isServiceWide } = useMe()
  const { data: projects = [] } = useQuery(projectsQuery)
  const repositoryProject = projectId ?? projects[0]?.id
  const repository: Way | undefined =
    repositoryProject === undefined
      ? undefined
      : {
          to: `/projects/${repositoryProject}`,
          label: 'Connect a repository',
          text: 'Sync its issues and pull requests.',
        }
  if (!can('admin')) return null
  const ways = [...(repository ? [repository] : []), ...(isServiceWide ? [FEEDBACK] : []), SOURCE, ASSISTANT]
  return (
    <ul className={styles.ways}>
      {ways.map(({ to, label, text }) => (
        <li key={to}>
          <Link to={to} className="target">
            {label}
          </Link>
          <span className="quiet small">{text}</span>
        </li>
      ))}
    </ul>
  )
}

interface Way {
  to: Path
  label: string
  text: string
}

const FEEDBACK: Way = {
  to: '/settings/webhook',
  label: 'Receive feedback',
  text: 'Each piece of feedback from your app becomes a task.',
}
const SOURCE: Way = {
  to: '/settings/sources',
  label: 'Add a source',
  text: 'Turn the webhooks of another service into tasks.',
}
const ASSISTANT: Way = {
  to: '/settings/keys',
  label: 'Connect an assistant',
  text: `Create a key for it, and point it to ${location.origin}/mcp.`,
}

/** Arrays become repeated parameters. */
const searchParamsOf = (filters: TaskFilters) =>
  new URLSearchParams(
    Object.entries(filters).flatMap(([name, value]) => [value].flat().map((one) => [name, String(one)])),
  )
