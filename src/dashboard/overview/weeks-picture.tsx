import type { Schema } from '../api/client.ts'
import { sumOf } from '../lib/sum.ts'
import { Legend } from '../pictures/fills.tsx'
import { Picture } from '../pictures/picture.tsx'
import { WeekColumns } from '../pictures/week-columns.tsx'
import { SOURCES } from '../tasks/filters.ts'
import styles from './overview.module.css'
import { weekName } from './week-name.ts'

type Week = Schema<'Overview'>['weeks'][number]

const CLOSERS: Record<keyof Week['closed'], string> = {
  people: 'People',
  assistants: 'Assistants',
  host: 'Code host',
  other: 'Other systems',
}
const SOURCE_NAMES = Object.keys(SOURCES) as (keyof typeof SOURCES)[]
const CLOSER_NAMES = Object.keys(CLOSERS) as (keyof typeof CLOSERS)[]

/** Opened against closed for each week: opened by source, closed by who closed it. */
export function WeeksPicture({ weeks }: { weeks: Week[] }) {
  const sources = SOURCE_NAMES.filter((source) => weeks.some(({ opened }) => opened[source]))
  const counted = weeks.map((week) => ({
    ...week,
    openedParts: sources.map((source) => week.opened[source] ?? 0),
    closedParts: CLOSER_NAMES.map((closer) => week.closed[closer]),
  }))
  return (
    <Picture
      title="Opened and closed"
      description="Tasks for each week. On the left what was opened, by source; on the right what was closed, by who closed it."
      legend={
        <div className={styles.legends}>
          {sources.length > 0 && (
            <div>
              <span className="quiet small">Opened</span>
              <Legend names={sources.map((source) => SOURCES[source])} />
            </div>
          )}
          <div>
            <span className="quiet small">Closed by</span>
            <Legend names={CLOSER_NAMES.map((closer) => CLOSERS[closer])} />
          </div>
        </div>
      }
      table={{
        head: [
          'Week of',
          'Opened',
          ...sources.map((source) => SOURCES[source]),
          'Closed',
          ...CLOSER_NAMES.map((closer) => `By ${CLOSERS[closer].toLowerCase()}`),
        ],
        rows: counted.map(({ start, openedParts, closedParts }) => ({
          key: start,
          cells: [weekName(start), sumOf(openedParts), ...openedParts, sumOf(closedParts), ...closedParts],
        })),
      }}
    >
      <WeekColumns
        label="Tasks opened and closed for each week; the table below has the figures."
        weeks={counted.map(({ start, openedParts, closedParts }) => ({
          label: weekName(start),
          title: [
            `Week of ${weekName(start)}`,
            `Opened: ${sumOf(openedParts).toLocaleString()}`,
            `Closed: ${sumOf(closedParts).toLocaleString()}`,
          ].join('\n'),
          columns: [
            { name: 'Opened', parts: openedParts },
            { name: 'Closed', parts: closedParts },
          ],
        }))}
      />
    </Picture>
  )
}
