import { useQuery } from '@tanstack/react-query'
import type { TaskListItem } from '../../api/queries.ts'
import { RelativeTime } from '../../components/relative-time.tsx'
import { sumOf } from '../../lib/sum.ts'
import { countsText } from './merging.ts'
import { type ReportCounts, reportCountsQuery } from './queries.ts'
import styles from './report-facts.module.css'

/** With which versions equal or merged tasks were reported, how people felt, and when the latest came. */
export default function ReportFacts({ tasks }: { tasks: TaskListItem[] }) {
  const reports = sumOf(tasks.map((task) => task.reports))
  const { data } = useQuery({ ...reportCountsQuery(tasks), enabled: reports > 1 })
  if (reports === 1 || !data) return null
  return (
    <>
      <Versions versions={data.appVersions} />
      <Sentiments sentiments={data.sentiments} />
      {data.lastOpenedAt && data.lastOpenedAt !== data.firstOpenedAt && (
        <span className={styles.latest}>
          latest <RelativeTime dateTime={data.lastOpenedAt} isShort />
        </span>
      )}
    </>
  )
}

function Versions({ versions }: { versions: ReportCounts['appVersions'] }) {
  const [first, ...others] = versions
  if (!first) return null
  return (
    <span className={styles.versions} title={countsText(versions, 'with ')}>
      <bdi>{first.name}</bdi>
      {others.length > 0 && ` +${others.length}`}
    </span>
  )
}

/** The worst first. */
const SENTIMENTS = ['frustrated', 'meh', 'loved']

/** A bar with a part for each sentiment; its title has the numbers. */
function Sentiments({ sentiments }: { sentiments: ReportCounts['sentiments'] }) {
  if (sentiments.length === 0) return null
  const shown = SENTIMENTS.flatMap((name) => sentiments.find((one) => one.name === name) ?? [])
  const text = countsText(sentiments)
  return (
    <span className={styles.sentiments} role="img" aria-label={text} title={text}>
      {shown.map(({ name, count }) => (
        <i key={name} data-sentiment={name} style={{ flexGrow: count }} />
      ))}
    </span>
  )
}
