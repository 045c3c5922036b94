import { Button, Textarea } from '@mantine/core'
import { LockIcon } from '@primer/octicons-react'
import type { ReactNode } from 'react'
import type { Task } from '../../api/queries.ts'
import { isEnterWithCommand } from '../../components/is-enter.ts'
import { Markdown } from '../../markdown/markdown.tsx'
import { useIsManaged } from '../managed.ts'
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
  const isOfCodehost = field === 'description' && task.source === 'codehost'
  const save = async () => {
    const { text } = draft
    if (text === undefined || edit.isBusy) return
    const saved = await edit.save({ [field]: text.trim() ? text : null }, draft.seen)
    if (saved) draft.complete(text, saved)
  }
  return (
    <section className={styles.section} aria-label={name}>
      <div className={styles.sectionHead}>
        <h2>{name}</h2>
        {mayWrite && draft.text === undefined && (
          <Button variant="subtle" size="compact-sm" className="push" onClick={draft.begin}>
            {task[field] ? 'Edit' : 'Add'}
            <span className="visually-hidden"> {name.toLowerCase()}</span>
          </Button>
        )}
      </div>
      {children}
      {draft.text === undefined ? (
        task[field] ? (
          <Markdown text={task[field]} itemUrl={isOfCodehost ? task.externalUrl : null} />
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
            value={draft.text}
            onChange={(event) => draft.write(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (isEnterWithCommand(event)) void save()
            }}
          />
          <div className="row">
            <Button onClick={() => void save()} loading={edit.isBusy}>
              Save {name.toLowerCase()}
            </Button>
            <Button variant="default" onClick={draft.discard}>
              Cancel
            </Button>
            <span className="quiet small push">Markdown supported</span>
          </div>
        </>
      )}
    </section>
  )
}
