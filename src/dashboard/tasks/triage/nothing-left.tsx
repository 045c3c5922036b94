import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Suspense } from 'react'
import { EmptyState } from '../../components/empty-state.tsx'
import { preload } from '../../components/lazy.tsx'
import { Link } from '../../navigation/link.tsx'
import { totalQuery } from '../list/total-query.ts'
import type { TriageSearch } from './triage-filters.ts'

const NoTasks = preload(() => import('../list/no-tasks.tsx'))

/** Says that all is decided and where to go next, or how tasks come in while there are none at all. */
export function NothingLeft({ search }: { search: TriageSearch }) {
  const { data: all } = useQuery(totalQuery({}))
  const isFiltered = search.projectId !== undefined || search.source !== undefined
  if (all?.total === 0)
    return (
      <Suspense>
        <NoTasks filters={{}} />
      </Suspense>
    )
  return (
    <EmptyState
      isCentered
      title={isFiltered ? 'Nothing left here' : 'Nothing left to triage'}
      description="What arrives from other systems waits here until somebody decides about it."
      action={
        <div className="row row-wrap">
          <Button renderRoot={(props) => <Link to="/overview" {...props} />}>View overview</Button>
          <Button variant="default" renderRoot={(props) => <Link to="/tasks" {...props} />}>
            See all tasks
          </Button>
          {isFiltered && (
            <Button variant="default" renderRoot={(props) => <Link to="/triage" {...props} />}>
              Clear filters
            </Button>
          )}
        </div>
      }
    />
  )
}
