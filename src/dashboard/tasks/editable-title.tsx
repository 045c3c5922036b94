import { Textarea } from '@mantine/core'
import { useRef } from 'react'
import type { Task } from '../api/queries.ts'
import { useDraft } from '../parts/use-draft.ts'
import styles from './panel.module.css'
import type { TaskEdit } from './use-task-edit.ts'

/** The title; a click turns it into a field, Enter saves, Escape lets go. */
export function EditableTitle({ task, edit, mayWrite }: { task: Task; edit: TaskEdit; mayWrite: boolean }) {
  const [draft, setDraft] = useDraft(`title:${task.id}`)
  const seen = useRef(task.version)

  async function save() {
    const title = (draft ?? '').trim()
    if (title === '' || title === task.title) return setDraft(undefined)
    if (await edit.save({ title }, seen.current)) setDraft(undefined)
  }

  if (draft !== undefined) {
    return (
      <Textarea
        aria-label="Title"
        autosize
        autoFocus
        maxLength={500}
        value={draft}
        disabled={edit.isBusy}
        onChange={(event) => setDraft(event.currentTarget.value.replaceAll('\n', ' '))}
        onBlur={() => void save()}
        onKeyDown={(event) => {
          if (event.key === 'Enter') event.currentTarget.blur()
          if (event.key === 'Escape') setDraft(undefined)
        }}
      />
    )
  }
  if (!mayWrite) return <h2 className={styles.title}>{task.title}</h2>
  return (
    <h2 className={styles.title} dir="auto">
      <button
        type="button"
        className={`plain-button ${styles.titleButton}`}
        title="Change the title"
        onClick={() => {
          seen.current = task.version
          setDraft(task.title)
        }}
      >
        {task.title}
      </button>
    </h2>
  )
}
