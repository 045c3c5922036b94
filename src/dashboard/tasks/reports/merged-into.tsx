import { Button } from '@mantine/core'
import type { Task } from '../../api/queries.ts'
import { useTask } from '../../api/use-tasks.ts'
import styles from './report-sections.module.css'
import { TaskLink } from './task-link.tsx'
import { useMerge } from './use-merge.ts'

/** What a task is merged into, and its way back. */
export function MergedInto({ task, into, mayWrite }: { task: Task; into: string; mayWrite: boolean }) {
  const { task: target } = useTask(into)
  const { unmerge, isBusy } = useMerge()
  return (
    <p className={styles.merged}>
      <span className="breakable">
        Merged into <TaskLink id={into} title={target?.title ?? 'another task'} />
      </span>
      {mayWrite && (
        <Button variant="default" size="compact-sm" loading={isBusy} onClick={() => void unmerge(task, into)}>
          Unmerge
        </Button>
      )}
    </p>
  )
}
