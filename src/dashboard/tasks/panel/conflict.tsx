import { Button } from '@mantine/core'
import styles from './task-panel.module.css'
import type { TaskEdit } from './use-task-edit.ts'

/** An edit conflict: shows both versions and lets the user choose. */
export function Conflict({ edit }: { edit: TaskEdit }) {
  if (!edit.conflict) return null
  const { mine, theirs } = edit.conflict
  return (
    <div className={styles.conflict} role="alert">
      <strong>
        Someone else changed this task while you were editing. Which version do you want to keep?
      </strong>
      {Object.entries(mine).map(([name, value]) => (
        <div key={name} className="stack" style={{ gap: 4 }}>
          <span className="quiet small">Your {name}</span>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be focusable. */}
          <pre tabIndex={0}>{valueText(value)}</pre>
          <span className="quiet small">Their {name}</span>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be focusable. */}
          <pre tabIndex={0}>{valueText(theirs[name as keyof typeof theirs])}</pre>
        </div>
      ))}
      <div className="row">
        <Button onClick={() => void edit.keepMine()} loading={edit.isBusy}>
          Keep mine
        </Button>
        <Button variant="default" onClick={edit.takeTheirs}>
          Keep theirs
        </Button>
      </div>
    </div>
  )
}

function valueText(value: unknown): string {
  if (Array.isArray(value)) return value.join(', ') || '(none)'
  return value === null || value === '' ? '(empty)' : String(value)
}
