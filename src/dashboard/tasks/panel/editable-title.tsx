import { Textarea } from '@mantine/core'
import type { Task } from '../../api/queries.ts'
import { isComposing, isEnter } from '../../components/is-enter.ts'
import styles from './task-panel.module.css'
import { useTaskDraft } from './use-task-draft.ts'
import type { TaskEdit } from './use-task-edit.ts'

/** Smaller, so that the text is seen without scrolling. */
const LONG_TITLE = 140

/** A click edits the title, Enter saves, Escape cancels. */
export function EditableTitle({ task, edit, mayWrite }: { task: Task; edit: TaskEdit; mayWrite: boolean }) {
  const draft = useTaskDraft(task, 'title')

  async function save() {
    const title = (draft.text ?? '').trim()
    if (title === '' || title === draft.seen.title || title === task.title) return draft.discard()
    if (await edit.save({ title }, draft.seen)) draft.discard()
  }

  if (draft.text !== undefined) {
    return (
      <Textarea
        aria-label="Title"
        dir="auto"
        autosize
        autoFocus
        maxLength={500}
        value={draft.text}
        disabled={edit.isBusy}
        onChange={(event) => draft.write(event.currentTarget.value.replaceAll('\n', ' '))}
        onBlur={() => void save()}
        onKeyDown={(event) => {
          if (isEnter(event)) event.currentTarget.blur()
          if (event.key === 'Escape' && !isComposing(event)) draft.discard()
        }}
      />
    )
  }
  const isLong = task.title.length > LONG_TITLE
  if (!mayWrite) {
    return (
      <h2 className={styles.title} dir="auto" data-long={isLong}>
        {task.title}
      </h2>
    )
  }
  return (
    <h2 className={styles.title} dir="auto" data-long={isLong}>
      <button
        type="button"
        className={`plain-button ${styles.titleButton}`}
        data-tooltip="Edit title"
        onClick={draft.begin}
      >
        {task.title}
      </button>
    </h2>
  )
}
