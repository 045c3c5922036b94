import { Button } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import type { TaskFilters } from '../api/queries.ts'
import { openNewTask } from '../frame/shortcuts.ts'
import { Curl } from '../parts/curl.tsx'
import { EmptyPage } from '../parts/empty-page.tsx'
import { useMe } from '../session/session.ts'
import { isNarrowed } from './filters.ts'

/** A list without tasks says what would fill it. */
export function NoTasks({ filters }: { filters: TaskFilters }) {
  const navigate = useNavigate()
  const { can } = useMe()
  const { projectId, listId } = filters
  if (isNarrowed(filters)) {
    return (
      <EmptyPage
        title="No task passes these filters"
        action={
          <Button variant="default" onClick={() => navigate({ to: '/tasks', search: { projectId, listId } })}>
            Clear the filters
          </Button>
        }
      />
    )
  }
  const body = { title: 'Hello, Inlet', ...(listId && { listId }) }
  return (
    <EmptyPage
      title="Nothing has come in yet"
      purpose="Bug reports, feedback, issues and pull requests land here as tasks."
      action={can('tasks:write') && <Button onClick={openNewTask}>Create a task</Button>}
    >
      <Curl path="/api/tasks" body={body} />
    </EmptyPage>
  )
}
