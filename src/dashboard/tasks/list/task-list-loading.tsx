import { LoadingLine, type LoadingProps } from '../../components/loading-line.tsx'
import { useMe } from '../../session/session.ts'
import styles from './task-list.module.css'

const ROWS = 14

interface TaskListLoadingProps extends Omit<LoadingProps, 'what'> {
  rowHeight: number
  isTwoLines: boolean
}

/** Rows without content, which stand where those of the list will. */
export function TaskListLoading({ rowHeight, isTwoLines, ...loading }: TaskListLoadingProps) {
  const { can } = useMe()
  return (
    <div className={styles.loading}>
      <div
        className={`${styles.skeleton} ${isTwoLines ? styles.twoLines : styles.rows}`}
        role="status"
        aria-label="Loading tasks"
      >
        {Array.from({ length: ROWS }, (_, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the list is static.
          <div key={index} className={styles.row} style={{ height: rowHeight }}>
            {can('tasks:write') && <span className={`${styles.tool} ${styles.check}`} />}
            <span className={styles.tool}>
              <span className={styles.circle} />
            </span>
            <span className={styles.title} style={{ width: `${28 + ((index * 17) % 41)}%` }} />
            <span className={styles.tail} />
          </div>
        ))}
      </div>
      <LoadingLine what="tasks" {...loading} />
    </div>
  )
}
