import type { Schema } from '../api/client.ts'
import { sumOf } from '../lib/sum.ts'
import { Legend } from '../pictures/fills.tsx'
import { Picture } from '../pictures/picture.tsx'
import { StackedBar } from '../pictures/stacked-bar.tsx'
import styles from './overview.module.css'

type VersionWeek = Schema<'FeedbackOverview'>['versions'][number]

const SENTIMENTS = { loved: 'Loved', meh: 'Meh', frustrated: 'Frustrated' } as const
const NAMES = Object.keys(SENTIMENTS) as (keyof typeof SENTIMENTS)[]

/** The sentiments of each version as a stacked bar, the newest version first. */
export function VersionsPicture({ versions }: { versions: VersionWeek[] }) {
  const counted = [...Map.groupBy(versions, ({ version }) => version)]
    .map(([version, weeks]) => ({
      version,
      last: weeks.reduce((last, { week }) => (week > last ? week : last), ''),
      parts: NAMES.map((name) => sumOf(weeks.map((week) => week[name]))),
    }))
    .toSorted(
      (a, b) =>
        b.last.localeCompare(a.last) || b.version.localeCompare(a.version, undefined, { numeric: true }),
    )
  const max = Math.max(1, ...counted.map(({ parts }) => sumOf(parts)))
  return (
    <Picture
      title="Sentiment for each version"
      description="Feedback of these weeks, the version with the latest feedback first."
      legend={<Legend names={NAMES.map((name) => SENTIMENTS[name])} />}
      table={{
        head: ['Version', ...NAMES.map((name) => SENTIMENTS[name])],
        rows: counted.map(({ version, parts }) => ({ key: version, cells: [version, ...parts] })),
      }}
    >
      <ul className={styles.rows}>
        {counted.map(({ version, parts }) => (
          <li key={version} className={styles.version}>
            <span className={styles.name}>
              <bdi>{version}</bdi>
            </span>
            <StackedBar
              parts={parts}
              max={max}
              label={NAMES.map(
                (name, index) => `${SENTIMENTS[name]}: ${parts[index]?.toLocaleString()}`,
              ).join(', ')}
            />
            <span className={styles.number}>{sumOf(parts).toLocaleString()}</span>
          </li>
        ))}
      </ul>
    </Picture>
  )
}
