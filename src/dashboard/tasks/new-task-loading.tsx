import { isEnter } from '../components/is-enter.ts'
import { useDraft } from '../components/use-draft.ts'
import styles from './new-task-loading.module.css'

/** The draft that stores that Enter was pressed before the dialog was loaded. */
export const SUBMITTED_DRAFT = 'new-entered'

/**
 * Replaces the dialog while it loads: takes the focus before the next key and writes to the same drafts. Visible
 * only after 300 ms.
 */
export function NewTaskLoading({ onClose }: { onClose(): void }) {
  const [title = '', setTitle] = useDraft('new-title')
  const [, setSubmitted] = useDraft(SUBMITTED_DRAFT)
  return (
    <div
      className={styles.loading}
      role="dialog"
      aria-modal="true"
      aria-label="New task"
      onKeyDown={(event) => {
        if (isEnter(event) && title.trim()) setSubmitted('yes')
        if (event.key !== 'Escape') return
        setSubmitted(undefined)
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
      <span className="quiet small">Loading the other fields…</span>
    </div>
  )
}

const focus = (input: HTMLInputElement | null) => input?.focus()
