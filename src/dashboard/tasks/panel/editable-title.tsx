import { Button, Textarea } from '@mantine/core'
import type { Task } from '../../api/queries.ts'
import { isComposing, isEnter } from '../../components/is-enter.ts'
import { useOpened } from '../../navigation/use-opened.ts'
import { openTaskId } from '../open-task.ts'
import styles from './task-panel.module.css'
import { useTaskDraft } from './use-task-draft.ts'
import type { TaskEdit } from './use-task-edit.ts'

/** Smaller, so that the text is seen without scrolling. */
const LONG_TITLE = 140

/** What the address of the editor has. */
const FIELD = 'title'

/** A click edits the title, Enter saves, Escape cancels. Back leaves a draft. */
export function EditableTitle({ task, edit, mayWrite }: { task: Task; edit: TaskEdit; mayWrite: boolean }) {
  const draft = useTaskDraft(task, FIELD)
  const editor = useOpened('edit')
  const hasDraft = draft.text !== undefined

  function cancel() {
    draft.discard()
    void editor.close()
  }
  async function save() {
    const title = (draft.text ?? '').trim()
    if (title === '' || title === draft.seen.title || title === task.title) return cancel()
    if (!(await edit.save({ title }, draft.seen))) return
    draft.discard()
    // Another task may be open by then.
    if (openTaskId() === task.id) await editor.close()
  }

  // Read-only since it was begun: the draft is still shown.
  if (editor.opened === FIELD && (mayWrite || hasDraft)) {
    return (
      <Textarea
        aria-label="Title"
        dir="auto"
        autosize
        autoFocus
        maxLength={500}
        value={draft.text ?? task.title}
        disabled={edit.isBusy}
        onChange={(event) => draft.write(event.currentTarget.value.replaceAll('\n', ' '))}
        onBlur={() => void save()}
        onKeyDown={(event) => {
          if (isEnter(event)) event.currentTarget.blur()
          if (event.key === 'Escape' && !isComposing(event)) cancel()
        }}
      />
    )
  }
  const isLong = task.title.length > LONG_TITLE
  if (!mayWrite && !hasDraft) {
    return (
      <h2 className={styles.title} dir="auto" data-long={isLong}>
        {task.title}
      </h2>
    )
  }
  const open = () => editor.open(FIELD)
  return (
    <>
      <h2 className={styles.title} dir="auto" data-long={isLong}>
        <button
          type="button"
          className={`plain-button ${styles.titleButton}`}
          data-tooltip="Edit title"
          onClick={open}
        >
          {task.title}
        </button>
      </h2>
      {hasDraft && (
        <div>
          <Button variant="subtle" size="compact-sm" onClick={open}>
            Edit draft<span className="visually-hidden"> of title</span>
          </Button>
        </div>
      )}
    </>
  )
}
