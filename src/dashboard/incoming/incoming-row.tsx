import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { projectsQuery } from '../api/queries.ts'
import { FieldErrors } from '../components/field-errors.tsx'
import { Link } from '../navigation/link.tsx'
import { useOpened } from '../navigation/use-opened.ts'
import { useMe } from '../session/session.ts'
import { DeliveryRow } from '../settings/delivery-row.tsx'
import { useSources } from '../settings/use-sources.ts'
import { DeliveryDetails } from './delivery-details.tsx'
import { type Delivery, OUTCOME_COLOURS, OUTCOMES, titleOf } from './delivery-text.ts'
import { explanationOf } from './explanation.ts'
import { openedQuery } from './use-incoming.ts'
import { useReplay } from './use-replay.tsx'

/** The others are among its details. */
const MAX_ERRORS = 3

/** A delivery: what it was, when, and what became of it; for failures why, and what to do. Opens its details. */
export function IncomingRow({ delivery }: { delivery: Delivery }) {
  const { opened } = useOpened('delivery')
  const { can, isServiceWide } = useMe()
  const { id, receiver, outcome, duplicates, errors, receivedAt } = delivery
  const isOpen = opened === id
  const isFailure = outcome === 'rejected' || outcome === 'failed'
  const { data: whole } = useQuery({ ...openedQuery(id), enabled: can('admin') && isOpen })
  const place = usePlace(delivery)
  const explanation = explanationOf(delivery)
  const action = can('admin') ? explanation?.action : undefined
  const { replay, isBusy, question } = useReplay(delivery)
  // Feedback can go to any project.
  const canReplay =
    can('admin') &&
    delivery.hasPayload &&
    (receiver === 'feedback' ? isServiceWide : receiver === 'codehost' || outcome !== 'pending')
  const replayButton = canReplay && (
    <Button variant="default" loading={isBusy} onClick={() => void replay()}>
      Replay
    </Button>
  )
  return (
    <>
      <DeliveryRow
        id={id}
        outcome={{ colour: OUTCOME_COLOURS[outcome], text: OUTCOMES[outcome] }}
        title={titleOf(delivery)}
        time={receivedAt}
        details={[
          ...place,
          duplicates > 0 && `sent ${duplicates + 1} times`,
          !isFailure && explanation?.reason,
        ]}
        failure={
          isFailure &&
          explanation && (
            <>
              <span className="breakable">
                {explanation.reason} {explanation.advice}
              </span>
              <FieldErrors errors={errors} max={isOpen ? undefined : MAX_ERRORS} />
              <div className="row row-wrap">
                {action && (
                  <Button
                    variant="default"
                    renderRoot={(props) => <Link to={action.to} search={action.search} {...props} />}
                  >
                    {action.label}
                  </Button>
                )}
                {!isOpen && replayButton}
              </div>
            </>
          )
        }
      >
        <DeliveryDetails delivery={delivery} whole={whole} replay={replayButton} />
      </DeliveryRow>
      {question}
    </>
  )
}

/** The names of its door and its project. */
function usePlace({ receiver, sourceId, projectId }: Delivery): (string | undefined)[] {
  const { data: projects } = useQuery(projectsQuery)
  const source = useSources().find(({ id }) => id === sourceId)
  const door = receiver === 'codehost' ? 'Code host' : sourceId === null ? 'Feedback webhook' : 'Source'
  return [source?.name ?? door, projects?.find(({ id }) => id === projectId)?.name]
}
