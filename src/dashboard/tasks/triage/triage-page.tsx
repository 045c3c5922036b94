import { type ReactNode, useMemo } from 'react'
import { useLocation, useParams } from 'wouter'
import type { TaskFilters } from '../../api/queries.ts'
import { useTask } from '../../api/use-tasks.ts'
import { usePageTitle } from '../../components/use-page-title.ts'
import { formatSearch } from '../../navigation/search-params.ts'
import { useSearchOf } from '../../navigation/use-search-of.ts'
import { useMe } from '../../session/session.ts'
import { SOURCES } from '../filters.ts'
import { FilterMenu } from '../list/filter-menu.tsx'
import type { Grouping } from '../list/grouping.ts'
import { ProjectFilter } from '../list/project-filter.tsx'
import { TaskList } from '../list/task-list.tsx'
import { ListPage } from '../list-page.tsx'
import { AcceptAll } from './accept-all.tsx'
import { equalTasks } from './equal-tasks.ts'
import { NothingLeft } from './nothing-left.tsx'
import styles from './triage.module.css'
import { searchWithTriage, type TriageSearch, triageFiltersOf, triageSearchOf } from './triage-filters.ts'
import { useLeft } from './use-left.ts'
import { useMergeEqual } from './use-merge-equal.ts'

/** What arrived and nobody has decided about, oldest first, and the open task as its child. */
export default function TriagePage({ children }: { children: ReactNode }) {
  const { taskId } = useParams()
  const { can } = useMe()
  const search = useSearchOf(triageSearchOf)
  const filters = useMemo(() => triageFiltersOf(search), [search])
  const { task } = useTask(taskId ?? '', { isEnabled: taskId !== undefined })
  usePageTitle(task?.title ?? 'Triage')
  const grouping = useGrouping()

  const header = (
    <>
      <h1>Triage</h1>
      <LeftToTriage filters={filters} />
    </>
  )
  return (
    <ListPage label="Tasks to triage" header={header} panel={children}>
      <TriageFilters search={search} mayWrite={can('tasks:write')} />
      <TaskList
        key={JSON.stringify(filters)}
        filters={filters}
        path="/triage"
        search={formatSearch(search)}
        grouping={grouping}
        empty={<NothingLeft search={search} />}
      />
    </ListPage>
  )
}

/** Equal tasks are one row; they are merged into the one that was reported most often, or else first. */
function useGrouping(): Grouping {
  const merge = useMergeEqual()
  return useMemo(() => ({ groupsOf: equalTasks, merge }), [merge])
}

/** "12 left", and what accepts them all. */
function LeftToTriage({ filters }: { filters: TaskFilters }) {
  const { can } = useMe()
  const left = useLeft(filters)
  const { count, isExact } = left
  if (count === undefined) return null
  return (
    <>
      <span className={styles.left} role="status">
        {count > 0 && `${count.toLocaleString()}${isExact ? '' : '+'} left`}
      </span>
      {can('tasks:write') && count > 0 && <AcceptAll filters={filters} left={{ ...left, count }} />}
    </>
  )
}

/** The most common ones; the help has all. */
const KEYS = [
  ['y', 'accept'],
  ['e', 'done'],
  ['n', 'not planned'],
  ['h', 'snooze'],
  ['m', 'merge equal'],
]

function TriageFilters({ search, mayWrite }: { search: TriageSearch; mayWrite: boolean }) {
  const [pathname, navigate] = useLocation()
  const apply = (change: TriageSearch) => navigate(pathname + searchWithTriage({ ...search, ...change }))
  const { projectId, source = [] } = search
  return (
    <search className={styles.filters}>
      <ProjectFilter projectId={projectId} onChange={(projectId) => apply({ projectId })} />
      <FilterMenu
        name="Source"
        options={SOURCES}
        selected={source}
        onChange={(sources) => apply({ source: sources?.length ? sources : undefined })}
      />
      {mayWrite && (
        <span className={styles.keys}>
          {KEYS.map(([key, what]) => (
            <span key={key}>
              <kbd>{key}</kbd> {what}
            </span>
          ))}
        </span>
      )}
    </search>
  )
}
