import { Button } from '@mantine/core'
import { plural } from '../../lib/plural.ts'
import type { AnyTask } from '../edits/use-task-actions.ts'
import { mergeLock } from '../managed.ts'
import { useMergeEqual } from './use-merge-equal.ts'

/** Says that the open task stands for others that are equal. */
export function EqualNote({ group, mayWrite }: { group: AnyTask[]; mayWrite: boolean }) {
  const merge = useMergeEqual()
  return (
    <div className="row">
      <span className="quiet small">
        {plural(group.length, 'equal task')} in one row. You decide about all of them at once.
      </span>
      {mayWrite && !mergeLock(group) && (
        <Button className="push" variant="default" onClick={() => merge(group)}>
          Merge all {group.length.toLocaleString()}
        </Button>
      )}
    </div>
  )
}
