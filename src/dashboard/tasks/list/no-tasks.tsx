import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { listsQuery, type TaskFilters } from '../../api/queries.ts'
import { Curl } from '../../components/curl.tsx'
import { EmptyPage } from '../../components/empty-page.tsx'
import { openNewTask } from '../../keyboard/shortcuts.ts'
import { useMe } from '../../session/session.ts'
import { isNarrowed } from '../filters.ts'

/** A list without tasks says what would fill it. */
export default function NoTasks({ filters }: { filters: TaskFilters }) {
  const navigate = useNavigate()
  const { can } = useMe()
  const { projectId, listId } = filters
  const { data: lists } = useQuery({ ...listsQuery(projectId ?? ''), enabled: Boolean(projectId) })
  if (isNarrowed(filters)) {
    return (
      <EmptyPage
        title="No task passes these filters"
        action={
          <Button variant="default" onClick={() => navigate({ to: '/tasks', search: { projectId, listId } })}>
            Clear the filters
          </Button>
        }
      >
        <Curl path={`/api/tasks?${wordsOf(filters)}`} caption="The same question from a terminal:" />
      </EmptyPage>
    )
  }
  const place = listId ?? lists?.find(({ isDefault }) => isDefault)?.id
  const body = { title: 'Hello, Inlet', ...(place && { listId: place }) }
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

/** Filters as the API takes them: what may be any of several is repeated. */
const wordsOf = (filters: TaskFilters) =>
  new URLSearchParams(
    Object.entries(filters).flatMap(([name, value]) => [value].flat().map((one) => [name, one])),
  )
