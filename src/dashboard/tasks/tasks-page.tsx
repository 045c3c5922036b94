import { ActionIcon, Button } from '@mantine/core'
import { PlusIcon, SlidersIcon } from '@primer/octicons-react'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useParams } from 'wouter'
import { listsQuery, projectsQuery, type TaskFilters } from '../api/queries.ts'
import { useTask } from '../api/use-tasks.ts'
import { usePageTitle } from '../components/use-page-title.ts'
import { openNewTask } from '../keyboard/shortcuts.ts'
import { Link } from '../navigation/link.tsx'
import { useMe } from '../session/session.ts'
import { isOfQuestions, isWorkOf } from './filters.ts'
import { FilterBar } from './list/filter-bar.tsx'
import { TaskList } from './list/task-list.tsx'
import { ListPage } from './list-page.tsx'
import styles from './tasks-page.module.css'
import { useFilters } from './use-filters.ts'

/** The list, and the open task as its child. */
export function TasksPage({ children }: { children: ReactNode }) {
  const filters = useFilters()
  const { taskId } = useParams()
  const { can } = useMe()
  const title = useTitle(filters)
  const { task } = useTask(taskId ?? '', { isEnabled: taskId !== undefined })
  usePageTitle(task?.title ?? title)

  const header = (
    <>
      <h1 className={styles.heading} dir="auto" title={title}>
        {title}
      </h1>
      {filters.projectId && (
        <ActionIcon
          aria-label="Project settings"
          renderRoot={(props) => <Link to={`/projects/${filters.projectId ?? ''}`} {...props} />}
        >
          <SlidersIcon size={16} />
        </ActionIcon>
      )}
      {can('tasks:write') && (
        <Button className="push" leftSection={<PlusIcon size={16} />} onClick={openNewTask}>
          New task
        </Button>
      )}
    </>
  )
  return (
    <ListPage label="Tasks" header={header} panel={children}>
      <FilterBar filters={filters} />
      <TaskList key={JSON.stringify(filters)} filters={filters} />
    </ListPage>
  )
}

function useTitle(filters: TaskFilters): string {
  const { projectId, listId } = filters
  const { me } = useMe()
  const { data: projects } = useQuery({ ...projectsQuery, enabled: Boolean(projectId) })
  const { data: lists } = useQuery({ ...listsQuery(projectId ?? ''), enabled: Boolean(projectId && listId) })
  if (isOfQuestions(filters)) return 'Questions'
  if (!projectId) return isWorkOf(me?.user?.username, filters) ? 'My work' : 'All tasks'
  const project = projects?.find(({ id }) => id === projectId)?.name ?? 'Project'
  const list = lists?.find(({ id }) => id === listId)?.name
  return list ? `${project} / ${list}` : project
}
