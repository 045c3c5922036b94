import type { ReactNode } from 'react'
import type { Schema } from '../api/client.ts'
import type { OverviewScope } from '../api/overview-queries.ts'
import { RelativeTime } from '../components/relative-time.tsx'
import { plural } from '../lib/plural.ts'
import { sumOf } from '../lib/sum.ts'
import { Link } from '../navigation/link.tsx'
import { NOT_DONE, searchOf } from '../tasks/filters.ts'
import styles from './overview.module.css'

interface OverviewFiguresProps {
  overview: Schema<'Overview'>
  scope: OverviewScope
}

/** What the pictures do not show: what waits, and how long things take. */
export function OverviewFigures({ overview, scope: { projectId } }: OverviewFiguresProps) {
  const { untriaged, oldestUntriagedAt, oldestOpenAt, daysToDone, weeks } = overview
  const opened = sumOf(weeks.flatMap((week) => Object.values(week.opened)))
  const closed = sumOf(weeks.flatMap((week) => Object.values(week.closed)))
  return (
    <dl className={styles.figures}>
      <Figure
        name="To triage"
        value={
          <Link to="/triage" search={{ projectId }}>
            {untriaged.toLocaleString()}
          </Link>
        }
        note={
          oldestUntriagedAt ? (
            <>
              The oldest came <RelativeTime dateTime={oldestUntriagedAt} />
            </>
          ) : (
            'Nothing waits'
          )
        }
      />
      <Figure
        name="Oldest open task"
        value={
          oldestOpenAt ? (
            <Link to="/tasks" search={searchOf({ status: NOT_DONE, sort: 'openedAt', projectId })}>
              <RelativeTime dateTime={oldestOpenAt} />
            </Link>
          ) : (
            'None'
          )
        }
        note={oldestOpenAt ? 'Opened, and not done yet' : 'Everything is done'}
      />
      <Figure
        name="Days to done"
        value={daysToDone ? daysToDone.median.toLocaleString() : 'None'}
        note={
          daysToDone
            ? `Median; nine of ten within ${daysToDone.p90 === 0 ? 'a day' : plural(daysToDone.p90, 'day')}`
            : `${closed > 0 ? 'Only merged tasks were' : 'Nothing was'} closed in these weeks`
        }
      />
      <Figure
        name={`In ${plural(weeks.length, 'week')}`}
        value={`${closed.toLocaleString()} closed`}
        note={`${opened.toLocaleString()} opened`}
      />
    </dl>
  )
}

const Figure = ({ name, value, note }: { name: string; value: ReactNode; note: ReactNode }) => (
  <div>
    <dt>{name}</dt>
    <dd>
      <strong>{value}</strong>
      <span className="quiet small">{note}</span>
    </dd>
  </div>
)
