import { useDraft } from '../components/use-draft.ts'
import styles from './new-task-loading.module.css'

/** The draft that says that somebody pressed Enter already. */
export const ENTERED = 'new-entered'

/**
 * In the place of the dialog for a new task while that is on its way: it has the focus before the next key, takes what
 * is typed into the same draft, and is seen only where the dialog takes its time.
 */
export function NewTaskWait({ onClose }: { onClose(): void }) {
  const [title = '', setTitle] = useDraft('new-title')
  const [, setEntered] = useDraft(ENTERED)
  return (
    <div
      className={styles.wait}
      role="dialog"
      aria-modal="true"
      aria-label="New task"
      onKeyDown={(event) => {
        if (event.key === 'Enter' && title.trim()) setEntered('yes')
        if (event.key !== 'Escape') return
        setEntered(undefined)
        onClose()
      }}
    >
      <label>
        Title
        <input
          ref={focus}
          maxLength={500}
          value={title}
          onChange={(event) => setTitle(event.currentTarget.value || undefined)}
        />
      </label>
      <span className="quiet small">The other fields are loading.</span>
    </div>
  )
}

const focus = (box: HTMLInputElement | null) => box?.focus()
