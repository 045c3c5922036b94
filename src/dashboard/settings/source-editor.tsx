import { Button, Select, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { api, dataOf } from '../api/client.ts'
import { type Problem, problemOf } from '../api/problem.ts'
import { listsQuery, projectsQuery } from '../api/queries.ts'
import { ErrorText } from '../components/error-text.tsx'
import { useMutation } from '../components/use-mutation.ts'
import { PageHeader } from './page-header.tsx'
import styles from './settings.module.css'
import {
  definitionOf,
  draftOf,
  EMPTY_DRAFT,
  parsedPayload,
  type SourceDraft,
  verifyOf,
} from './source-draft.ts'
import { SourcePreview } from './source-preview.tsx'
import {
  latestPayloadQuery,
  presetsQuery,
  type Source,
  type SourcePreset,
  type SourceWithSecret,
} from './source-queries.ts'
import { SourceTemplates } from './source-templates.tsx'
import { SourceVerification } from './source-verification.tsx'

interface SourceEditorProps {
  /** Undefined for a new one. */
  source: Source | undefined
  onClose(): void
  /** With the payload that it was tested with. */
  onCreated(source: SourceWithSecret, tested: { payload: unknown } | undefined): void
}

const TEST_DELAY_MS = 250

/** Adds or edits a source, beside the tasks that a payload would make. */
export function SourceEditor({ source, onClose, onCreated }: SourceEditorProps) {
  const { data: presets = [] } = useQuery(presetsQuery)
  const { data: projects = [] } = useQuery(projectsQuery)
  const { mutate, isBusy } = useMutation('sources')
  const [draft, setDraft] = useState<SourceDraft>(source ? draftOf(source) : EMPTY_DRAFT)
  const { data: latest = '' } = useQuery({
    ...latestPayloadQuery(source?.id ?? ''),
    enabled: Boolean(source),
  })
  const [ownPayload, setOwnPayload] = useState<string>()
  const payloadText = ownPayload ?? latest
  const [problem, setProblem] = useState<Problem>()
  const [preset, setPreset] = useState<SourcePreset>()
  // Each for itself: an object of both would be new each time, and never settle.
  const [testedDraft] = useDebouncedValue(draft, TEST_DELAY_MS)
  const [testedText] = useDebouncedValue(payloadText, TEST_DELAY_MS)
  const edit = (change: Partial<SourceDraft>) => setDraft((draft) => ({ ...draft, ...change }))
  const projectId = draft.projectId ?? projects.find(({ archivedAt }) => !archivedAt)?.id ?? null
  const { data: lists = [] } = useQuery({ ...listsQuery(projectId ?? ''), enabled: projectId !== null })
  const isFeedback = draft.mapping === 'feedback'
  const hasTitle = isFeedback || draft.template.title.trim() !== ''
  const isComplete = draft.name.trim() !== '' && hasTitle && projectId !== null
  const payload = parsedPayload(testedText)

  async function save(event: FormEvent) {
    event.preventDefault()
    if (!isComplete || projectId === null) return
    const { mapping, listId } = draft
    const fields = {
      name: draft.name.trim(),
      verify: verifyOf(draft),
      ...(!isFeedback && { listId }),
      ...definitionOf(draft),
    }
    await mutate('', async () => {
      try {
        if (source) {
          const params = { path: { id: source.id } }
          await dataOf(api.PATCH('/api/sources/{id}', { params, body: fields }))
          onClose()
        } else {
          const secret = draft.secret.trim()
          const body = { ...fields, projectId, mapping, ...(secret && { secret }) }
          onCreated(await dataOf(api.POST('/api/sources', { body })), parsedPayload(payloadText))
        }
      } catch (error) {
        setProblem(problemOf(error))
      }
    })
  }

  return (
    <>
      <PageHeader
        title={source ? `Edit “${source.name}”` : 'Add a source'}
        action={
          <Button variant="default" onClick={onClose}>
            Back to sources
          </Button>
        }
      >
        Paste a payload to see the tasks that it creates while you edit. Templates are written in{' '}
        <a href="https://shopify.github.io/liquid/basics/introduction/" target="_blank" rel="noreferrer">
          Liquid
        </a>
        .
      </PageHeader>
      <form onSubmit={save} className={styles.halves}>
        <section className={styles.section} aria-label="Source">
          {!source && (
            <Select
              label="Start from"
              placeholder="Choose a preset, or write your own templates"
              description={preset?.description}
              data={presets.map(({ id, name }) => ({ value: id, label: name }))}
              clearable
              onChange={(id) => {
                const preset = presets.find((preset) => preset.id === id)
                setPreset(preset)
                if (preset) setDraft(({ projectId, listId }) => ({ ...draftOf(preset), projectId, listId }))
              }}
            />
          )}
          <TextInput
            label="Name"
            required
            maxLength={100}
            value={draft.name}
            onChange={(event) => edit({ name: event.currentTarget.value })}
          />
          {!source && (
            <Select
              label="Project"
              data={projects
                .filter(({ archivedAt }) => !archivedAt)
                .map(({ id, name }) => ({ value: id, label: name }))}
              value={projectId}
              allowDeselect={false}
              onChange={(projectId) => edit({ projectId, listId: null })}
              required
            />
          )}
          {isFeedback ? (
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
              onChange={(listId) => edit({ listId })}
            />
          )}
          <SourceVerification
            draft={draft}
            isNew={!source}
            secretFrom={preset?.secretFrom}
            problem={problem}
            onEdit={edit}
          />
          {!isFeedback && <SourceTemplates draft={draft} problem={problem} onEdit={edit} />}
          {problem && <ErrorText>{problem.message}</ErrorText>}
          <div>
            <Button type="submit" loading={isBusy} disabled={!isComplete}>
              {source ? 'Save source' : 'Create source'}
            </Button>
          </div>
        </section>
        <SourcePreview
          text={payloadText}
          onText={setOwnPayload}
          isNew={!source}
          isLatest={payloadText !== '' && ownPayload === undefined}
          payload={payload}
          definition={{ mapping: testedDraft.mapping, ...definitionOf(testedDraft) }}
        />
      </form>
    </>
  )
}
