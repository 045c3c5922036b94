import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { overviewQuery } from '../api/overview-queries.ts'
import { LoadError } from '../components/load-error.tsx'
import { OverviewFigures } from './overview-figures.tsx'
import { OverviewFrame } from './overview-frame.tsx'
import { FailingPipes, Pipes } from './pipes.tsx'
import { useScope } from './scope.ts'
import { WeeksPicture } from './weeks-picture.tsx'

/** Whether the team keeps up: what came in against what was closed, and by whom. */
export default function OverviewPage() {
  const { scope } = useScope()
  const query = useQuery(overviewQuery(scope))
  return (
    <OverviewFrame title="Overview">
      <FailingPipes projectId={scope.projectId} />
      {query.isPending && <Skeleton height={320} />}
      {query.isError && <LoadError what="the overview" query={query} />}
      {query.data && (
        <>
          <OverviewFigures overview={query.data} scope={scope} />
          <WeeksPicture weeks={query.data.weeks} />
        </>
      )}
      <Pipes projectId={scope.projectId} />
    </OverviewFrame>
  )
}
