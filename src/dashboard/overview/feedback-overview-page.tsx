import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { feedbackOverviewQuery } from '../api/overview-queries.ts'
import { EmptyState } from '../components/empty-state.tsx'
import { LoadError } from '../components/load-error.tsx'
import { OverviewFrame } from './overview-frame.tsx'
import { Problems } from './problems.tsx'
import { useScope } from './scope.ts'
import { VersionsPicture } from './versions-picture.tsx'

/** How each version was received, and what most people reported. */
export default function FeedbackOverviewPage() {
  const { scope } = useScope()
  const query = useQuery(feedbackOverviewQuery(scope))
  return (
    <OverviewFrame title="Feedback">
      {query.isPending && <Skeleton height={320} />}
      {query.isError && <LoadError what="the feedback" query={query} />}
      {query.data && (query.data.versions.length > 0 || query.data.problems.length > 0) && (
        <>
          <VersionsPicture versions={query.data.versions} />
          <Problems {...query.data} />
        </>
      )}
      {query.data?.versions.length === 0 && query.data.problems.length === 0 && (
        <EmptyState
          title="No feedback in these weeks"
          description="Sentiments for each version, and the problems with most reports, appear here."
        />
      )}
    </OverviewFrame>
  )
}
