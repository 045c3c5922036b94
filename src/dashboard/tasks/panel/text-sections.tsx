import { Button, Textarea } from '@mantine/core'
import { LockIcon } from '@primer/octicons-react'
import type { ReactNode } from 'react'
import type { Task } from '../../api/queries.ts'
import { isEnterWithCommand } from '../../components/is-enter.ts'
import { Markdown } from '../../markdown/markdown.tsx'
import { useOpened } from '../../navigation/use-opened.ts'
import { useIsManaged } from '../managed.ts'
import { openTaskId } from '../open-task.ts'
import styles from './task-panel.module.css'
import { useTaskDraft } from './use-task-draft.ts'
import type { TaskEdit } from './use-task-edit.ts'

interface TextSectionsProps {
  task: Task
  edit: TaskEdit
  mayWrite: boolean
}

/** The description, which may be read-only, and the notes. */
export function TextSections({ task, edit, mayWrite }: TextSectionsProps) {
  const isManaged = useIsManaged(task)
  return (
    <>
      <TextSection
        task={task}
        edit={edit}
        field="description"
        name="Description"
        mayWrite={mayWrite && !task.descriptionReadOnly}
        empty="No description"
      >
        {task.source === 'webhook' && task.externalId !== null && (
          <p className={styles.lock}>The next delivery with this external ID replaces it. Notes are kept.</p>
        )}
        {task.descriptionReadOnly && (
          <p className={styles.lock}>
            <LockIcon size={14} aria-hidden />
            <span>
              {isManaged ? MANAGED : (READ_ONLY_REASONS[task.source] ?? 'Read-only.')} Use the notes instead.
            </span>
          </p>
        )}
      </TextSection>
      <TextSection
        task={task}
        edit={edit}
        field="notes"
        name="Notes"
        mayWrite={mayWrite}
        empty="No notes. Notes are always editable."
      />
    </>
  )
}

const MANAGED = 'Read-only because it is synced from the code host. Edit it there.'
const READ_ONLY_REASONS: Partial<Record<Task['source'], string>> = {
  api: 'Read-only because the task was created over the API. API clients can change it with PATCH /api/tasks/{id}.',
  codehost: 'Read-only because it came from a code host that is no longer connected.',
  analytics: 'Read-only because it was written by a user.',
}

interface TextSectionProps extends TextSectionsProps {
  field: 'description' | 'notes'
  name: string
  empty: string
  children?: ReactNode
}

function TextSection({ task, edit, field, name, mayWrite, empty, children }: TextSectionProps) {
  const draft = useTaskDraft(task, field)
  const editor = useOpened('edit')
  const hasDraft = draft.text !== undefined
  // Read-only since it was begun: the draft is still shown.
  const mayEdit = mayWrite || hasDraft
  const isEditing = editor.opened === field && mayEdit
  const saved = task[field] ?? ''
  const isOfCodehost = field === 'description' && task.source === 'codehost'
  const save = async () => {
    const { text } = draft
    if (edit.isBusy) return
    if (text === undefined) return editor.close()
    const result = await edit.save({ [field]: text.trim() ? text : null }, draft.seen)
    // Another task may be open by then.
    if (result && draft.complete(text, result) && openTaskId() === task.id) await editor.close()
  }
  return (
    <section className={styles.section} aria-label={name}>
      <div className={styles.sectionHead}>
        <h2>{name}</h2>
        {mayEdit && !isEditing && (
          <Button variant="subtle" size="compact-sm" className="push" onClick={() => editor.open(field)}>
            {hasDraft ? 'Edit draft' : saved ? 'Edit' : 'Add'}
            <span className="visually-hidden">
              {hasDraft && ' of'} {name.toLowerCase()}
            </span>
          </Button>
        )}
      </div>
      {children}
      {!isEditing ? (
        saved ? (
          <Markdown text={saved} itemUrl={isOfCodehost ? task.externalUrl : null} />
        ) : (
          <p className="quiet small" style={{ margin: 0 }}>
            {empty}
          </p>
        )
      ) : (
        <>
          <Textarea
            aria-label={name}
            autosize
            autoFocus
            minRows={4}
            maxRows={24}
            maxLength={65_536}
            value={draft.text ?? saved}
            onChange={({ currentTarget: { value } }) =>
              value === saved ? draft.discard() : draft.write(value)
            }
            onKeyDown={(event) => {
              if (isEnterWithCommand(event)) void save()
            }}
          />
          <div className="row">
            <Button onClick={() => void save()} loading={edit.isBusy}>
              Save {name.toLowerCase()}
            </Button>
            <Button
              variant="default"
              onClick={() => {
                draft.discard()
                void editor.close()
              }}
            >
              {hasDraft ? 'Discard' : 'Cancel'}
            </Button>
            <span className="quiet small push">Markdown supported</span>
          </div>
        </>
      )}
    </section>
  )
}
