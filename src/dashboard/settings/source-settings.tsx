import { Select, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Problem } from '../api/problem.ts'
import { listsQuery, type Project } from '../api/queries.ts'
import styles from './settings.module.css'
import type { SourceDraft } from './source-draft.ts'
import type { Source, SourcePreset } from './source-queries.ts'
import { SourceVerification } from './source-verification.tsx'

interface SourceSettingsProps {
  source: Source | undefined
  draft: SourceDraft
  projects: Project[]
  /** The project of its tasks. */
  projectId: string | null
  secretFrom: SourcePreset['secretFrom'] | undefined
  problem: Problem | undefined
  onEdit(change: Partial<SourceDraft>): void
}

/** What the source is called, where its tasks go, and who may send. */
export function SourceSettings({
  source,
  draft,
  projects,
  projectId,
  onEdit,
  ...others
}: SourceSettingsProps) {
  const { data: lists = [] } = useQuery({ ...listsQuery(projectId ?? ''), enabled: projectId !== null })
  return (
    <section className={styles.section} aria-label="Source">
      <h2>Source</h2>
      <TextInput
        label="Name"
        required
        maxLength={100}
        value={draft.name}
        onChange={(event) => onEdit({ name: event.currentTarget.value })}
      />
      {!source && (
        <Select
          label="Project"
          data={projects
            .filter(({ archivedAt }) => !archivedAt)
            .map(({ id, name }) => ({ value: id, label: name }))}
          value={projectId}
          allowDeselect={false}
          onChange={(projectId) => onEdit({ projectId, listId: null })}
          required
        />
      )}
      {draft.mapping === 'feedback' ? (
        <p className="quiet small">
          Makes the same tasks as the feedback webhook. Webhook routing decides which project they go to.
        </p>
      ) : (
        <Select
          label="List"
          description="New tasks go here."
          data={lists.map(({ id, name }) => ({ value: id, label: name }))}
          value={draft.listId}
          placeholder={lists.find(({ isDefault }) => isDefault)?.name ?? ''}
          clearable
          onChange={(listId) => onEdit({ listId })}
        />
      )}
      <SourceVerification draft={draft} isNew={!source} onEdit={onEdit} {...others} />
    </section>
  )
}
