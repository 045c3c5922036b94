import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useLocation } from 'wouter'
import { listsQuery, type TaskFilters } from '../../api/queries.ts'
import { CurlExample } from '../../components/curl-example.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { openNewTask } from '../../keyboard/shortcuts.ts'
import { formatSearch } from '../../navigation/search-params.ts'
import { useMe } from '../../session/session.ts'
import { isFiltered } from '../filters.ts'

export default function NoTasks({ filters }: { filters: TaskFilters }) {
  const [, navigate] = useLocation()
  const { can } = useMe()
  const { projectId, listId } = filters
  const { data: lists } = useQuery({ ...listsQuery(projectId ?? ''), enabled: Boolean(projectId) })
  if (isFiltered(filters)) {
    return (
      <EmptyState
        title="No matching tasks"
        action={
          <Button variant="default" onClick={() => navigate(`/tasks${formatSearch({ projectId, listId })}`)}>
            Clear filters
          </Button>
        }
      >
        <CurlExample path={`/api/tasks?${searchParamsOf(filters)}`} caption="Same query with curl:" />
      </EmptyState>
    )
  }
  const targetListId = listId ?? lists?.find(({ isDefault }) => isDefault)?.id
  const body = { title: 'Hello, Inlet', ...(targetListId && { listId: targetListId }) }
  return (
    <EmptyState
      title="No tasks yet"
      description="Bug reports, feedback, issues and pull requests appear here as tasks."
      action={can('tasks:write') && <Button onClick={openNewTask}>Create your first task</Button>}
    >
      <CurlExample path="/api/tasks" body={body} />
    </EmptyState>
  )
}

/** Arrays become repeated parameters. */
const searchParamsOf = (filters: TaskFilters) =>
  new URLSearchParams(
    Object.entries(filters).flatMap(([name, value]) => [value].flat().map((one) => [name, String(one)])),
  )
