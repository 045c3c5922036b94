import { Button, Select, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { api, dataOf } from '../api/client.ts'
import { type Problem, problemOf } from '../api/problem.ts'
import { listsQuery, projectsQuery } from '../api/queries.ts'
import { FormEnd } from '../components/form-end.tsx'
import { useDraft } from '../components/use-draft.ts'
import { useFormDraft } from '../components/use-form-draft.ts'
import { useMutation } from '../components/use-mutation.ts'
import { useParameter } from '../navigation/use-parameter.ts'
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
import { latestPayloadQuery, presetsQuery, type Source, type SourceWithSecret } from './source-queries.ts'
import { SourceTemplates } from './source-templates.tsx'
import { SourceVerification } from './source-verification.tsx'

interface SourceEditorProps {
  /** Undefined for a new one. */
  source: Source | undefined
  onClose(): void
  /** With the payload that it was tested with. */
  onCreated(source: SourceWithSecret, tested: { payload: unknown } | undefined): void
}

type StoredDraft = Omit<SourceDraft, 'secret'>

const TEST_DELAY_MS = 250

/** Adds or edits a source, beside the tasks that a payload would make. */
export function SourceEditor({ source, onClose, onCreated }: SourceEditorProps) {
  const { data: presets = [] } = useQuery(presetsQuery)
  const { data: projects = [] } = useQuery(projectsQuery)
  const { mutate, isBusy } = useMutation('sources')
  const name = `source:${source?.id ?? 'new'}`
  const [presetId, setPresetId] = useParameter('preset')
  const preset = source ? undefined : presets.find(({ id }) => id === presetId)
  const startedFrom = source ?? preset
  const { secret: _, ...saved } = startedFrom ? draftOf(startedFrom) : EMPTY_DRAFT
  const form = useFormDraft<StoredDraft>(name, saved)
  // Not part of the draft, which is stored.
  const [secret, setSecret] = useState('')
  const draft: SourceDraft = { ...form.values, secret }
  const { data: latest = '' } = useQuery({
    ...latestPayloadQuery(source?.id ?? ''),
    enabled: Boolean(source),
  })
  const [ownPayload, setOwnPayload] = useDraft(`${name}-payload`)
  const payloadText = ownPayload ?? latest
  const [problem, setProblem] = useState<Problem>()
  // As text: objects would be new each time, and never settle.
  const [definitionText] = useDebouncedValue(
    JSON.stringify({ mapping: draft.mapping, ...definitionOf(draft) }),
    TEST_DELAY_MS,
  )
  const [testedText] = useDebouncedValue(payloadText, TEST_DELAY_MS)
  const projectId = draft.projectId ?? projects.find(({ archivedAt }) => !archivedAt)?.id ?? null
  const { data: lists = [] } = useQuery({ ...listsQuery(projectId ?? ''), enabled: projectId !== null })
  const isFeedback = draft.mapping === 'feedback'
  const hasTitle = isFeedback || draft.template.title.trim() !== ''
  const isComplete = draft.name.trim() !== '' && hasTitle && projectId !== null
  const payload = parsedPayload(testedText)

  function edit({ secret, ...change }: Partial<SourceDraft>) {
    if (secret !== undefined) setSecret(secret)
    form.change(change)
  }

  function startFrom(preset: string | null) {
    const { projectId, listId } = draft
    form.discard()
    form.change({ projectId, listId })
    setPresetId(preset ?? undefined)
  }

  function discard() {
    form.discard()
    setOwnPayload(undefined)
  }

  async function save(event: FormEvent) {
    event.preventDefault()
    if (!isComplete || projectId === null) return
    const { mapping, listId } = draft
    const fields = { name: draft.name.trim(), ...(!isFeedback && { listId }), ...definitionOf(draft) }
    const verify = verifyOf(draft)
    if (source && !form.isDraft) {
      discard()
      return onClose()
    }
    await mutate('', async () => {
      try {
        if (source) {
          const params = { path: { id: source.id } }
          const isVerifyChanged = Object.keys(form.onlyChanged(verify)).length > 0
          const body = { ...form.onlyChanged(fields), ...(isVerifyChanged && { verify }) }
          await dataOf(api.PATCH('/api/sources/{id}', { params, body }))
          discard()
          onClose()
        } else {
          const own = secret.trim()
          const body = { ...fields, verify, projectId, mapping, ...(own && { secret: own }) }
          const created = await dataOf(api.POST('/api/sources', { body }))
          discard()
          onCreated(created, parsedPayload(payloadText))
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
              value={preset?.id ?? null}
              onChange={startFrom}
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
          <FormEnd
            draft={{
              isDraft: form.isDraft || ownPayload !== undefined,
              isOutdated: source !== undefined && form.isOutdated,
              discard,
            }}
            verb={source ? 'Save source' : 'Create source'}
            error={problem?.message}
            isBusy={isBusy}
            isDisabled={!isComplete}
            onClose={onClose}
          />
        </section>
        <SourcePreview
          text={payloadText}
          onText={setOwnPayload}
          isNew={!source}
          isLatest={payloadText !== '' && ownPayload === undefined}
          payload={payload}
          definition={JSON.parse(definitionText)}
        />
      </form>
    </>
  )
}
