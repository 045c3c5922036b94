import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Fragment } from 'react'
import type { Schema } from '../api/client.ts'
import { overviewQuery } from '../api/overview-queries.ts'
import { EmptyState } from '../components/empty-state.tsx'
import { LoadError } from '../components/load-error.tsx'
import { sumOf } from '../lib/sum.ts'
import { useMe } from '../session/session.ts'
import { AddSource } from './add-source.tsx'
import { OverviewFigures } from './overview-figures.tsx'
import { OverviewFrame } from './overview-frame.tsx'
import { FailingPipes, Pipes, useIsStatusAwaited } from './pipes.tsx'
import { useScope } from './scope.ts'
import { WeeksPicture } from './weeks-picture.tsx'

/** As high as what takes their place. */
const FIGURES_PX = 72
const PICTURE_PX = 374

/** Whether the team keeps up: what came in against what was closed, and by whom. */
export default function OverviewPage() {
  const { scope } = useScope()
  const query = useQuery(overviewQuery(scope))
  // What fails comes first, and would move the rest.
  const isWaiting = useIsStatusAwaited(scope)
  return (
    <OverviewFrame title="Overview">
      <FailingPipes projectId={scope.projectId} />
      {/* Others beneath what fails, instead of the same ones that move. */}
      {(query.isPending || isWaiting) && (
        <Fragment key={String(isWaiting)}>
          <Skeleton height={FIGURES_PX} />
          <Skeleton height={PICTURE_PX} />
        </Fragment>
      )}
      {query.isError && <LoadError what="the overview" query={query} />}
      {query.data && !isWaiting && (
        <>
          <OverviewFigures overview={query.data} scope={scope} />
          {isQuiet(query.data) ? (
            <NothingCounted hasOpen={query.data.oldestOpenAt !== null} />
          ) : (
            <WeeksPicture weeks={query.data.weeks} />
          )}
        </>
      )}
      <Pipes projectId={scope.projectId} />
    </OverviewFrame>
  )
}

const isQuiet = ({ weeks }: Schema<'Overview'>) =>
  sumOf(weeks.flatMap(({ opened, closed }) => [...Object.values(opened), ...Object.values(closed)])) === 0

/** Instead of a picture without anything in it. */
function NothingCounted({ hasOpen }: { hasOpen: boolean }) {
  const { can } = useMe()
  if (hasOpen)
    return (
      <p className="quiet">Nothing was opened or closed in these weeks. Choose more weeks to see others.</p>
    )
  return (
    <EmptyState
      title="No tasks yet"
      description="Once tasks come in, you see here how many are opened and closed each week, and by whom."
      action={can('admin') && <AddSource />}
    />
  )
}
