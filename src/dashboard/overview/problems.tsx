import type { Schema } from '../api/client.ts'
import { plural } from '../lib/plural.ts'
import { Link } from '../navigation/link.tsx'
import { Picture } from '../pictures/picture.tsx'
import { Sparkline } from '../pictures/sparkline.tsx'
import styles from './overview.module.css'
import { weekName } from './week-name.ts'

/** The problems with most reports, with the course of each. */
export function Problems({ problems, weeks }: Pick<Schema<'FeedbackOverview'>, 'problems' | 'weeks'>) {
  if (problems.length === 0) return null
  return (
    <Picture
      title="Problems with most reports"
      description={`How often each was reported in ${plural(weeks.length, 'week')}.`}
      table={{
        head: ['Problem', 'Reports', ...weeks.map(weekName)],
        columnsOnPaper: 2,
        rows: problems.map(({ taskId, title, reports, weeks }) => ({
          key: taskId,
          cells: [title, reports, ...weeks],
        })),
      }}
    >
      <ol className={styles.rows}>
        {problems.map(({ taskId, title, reports, weeks }) => (
          <li key={taskId} className={styles.problem}>
            <Link to={`/tasks/${taskId}`} className={styles.name}>
              <bdi>{title}</bdi>
            </Link>
            <Sparkline values={weeks} label={`Reports for each week: ${weeks.join(', ')}`} />
            <span className={styles.number}>{reports.toLocaleString()}</span>
          </li>
        ))}
      </ol>
    </Picture>
  )
}
