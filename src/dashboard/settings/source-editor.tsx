import { Button, Select, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { api, dataOf } from '../api/client.ts'
import { type Problem, problemOf } from '../api/problem.ts'
import { projectsQuery } from '../api/queries.ts'
import { ErrorText } from '../components/error-text.tsx'
import { useMutation } from '../components/use-mutation.ts'
import { PageHeader } from './page-header.tsx'
import styles from './settings.module.css'
import { definitionOf, draftOf, EMPTY_DRAFT, parsedPayload, type SourceDraft } from './source-draft.ts'
import { SourcePreview } from './source-preview.tsx'
import { presetsQuery, type Source, type SourcePreset, type SourceWithSecret } from './source-queries.ts'
import { SourceTemplates } from './source-templates.tsx'

interface SourceEditorProps {
  /** Undefined for a new one. */
  source: Source | undefined
  onClose(): void
  onCreated(source: SourceWithSecret): void
}

const TEST_DELAY_MS = 250
const SCHEMES: { value: SourceDraft['scheme']; label: string }[] = [
  { value: 'bearer', label: 'Authorization: Bearer <secret>' },
  { value: 'token', label: 'The secret in a header' },
  { value: 'hmac_sha256_hex', label: 'HMAC-SHA256 of the body in a header' },
  { value: 'standard_webhooks', label: 'Standard Webhooks' },
]

const SECRET_HINTS = {
  sender: 'Paste the secret that the sender shows you.',
  inlet: 'Leave this empty to create a secret, which you enter at the sender.',
  either: 'If the sender shows you a secret, paste it. Otherwise, leave this empty to create one.',
}

/** Adds or edits a source, beside the tasks that a payload would make. */
export function SourceEditor({ source, onClose, onCreated }: SourceEditorProps) {
  const { data: presets = [] } = useQuery(presetsQuery)
  const { data: projects = [] } = useQuery(projectsQuery)
  const { mutate, isBusy } = useMutation('sources')
  const [draft, setDraft] = useState<SourceDraft>(source ? draftOf(source) : EMPTY_DRAFT)
  const [payloadText, setPayloadText] = useState('')
  const [problem, setProblem] = useState<Problem>()
  const [preset, setPreset] = useState<SourcePreset>()
  const [tested] = useDebouncedValue({ draft, payloadText }, TEST_DELAY_MS)
  const edit = (change: Partial<SourceDraft>) => setDraft((draft) => ({ ...draft, ...change }))
  const projectId = draft.projectId ?? projects.find(({ archivedAt }) => !archivedAt)?.id ?? null
  const needsHeader = draft.scheme === 'token' || draft.scheme === 'hmac_sha256_hex'
  const isComplete = draft.name.trim() !== '' && draft.template.title.trim() !== '' && projectId !== null
  const payload = parsedPayload(tested.payloadText)

  async function save(event: FormEvent) {
    event.preventDefault()
    if (!isComplete || projectId === null) return
    const definition = definitionOf(draft)
    const verify = {
      scheme: draft.scheme,
      header: needsHeader ? draft.header.trim() || null : null,
      prefix: needsHeader ? draft.prefix || null : null,
    }
    const name = draft.name.trim()
    await mutate('', async () => {
      try {
        if (source) {
          const params = { path: { id: source.id } }
          await dataOf(api.PATCH('/api/sources/{id}', { params, body: { name, verify, ...definition } }))
          onClose()
        } else {
          const secret = draft.secret.trim()
          const body = { name, projectId, verify, ...definition, ...(secret && { secret }) }
          onCreated(await dataOf(api.POST('/api/sources', { body })))
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
                if (preset) setDraft({ ...draftOf(preset), projectId: draft.projectId })
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
              onChange={(projectId) => edit({ projectId })}
              required
            />
          )}
          <Select
            label="Verification"
            description={source && 'To use another one, create a new source.'}
            data={SCHEMES}
            value={draft.scheme}
            allowDeselect={false}
            disabled={source !== undefined}
            onChange={(scheme) => scheme && edit({ scheme: scheme as SourceDraft['scheme'] })}
          />
          {needsHeader && (
            <TextInput
              label="Header"
              required
              placeholder="X-Signature"
              value={draft.header}
              error={problem?.byField['/verify/header']}
              onChange={(event) => edit({ header: event.currentTarget.value })}
            />
          )}
          {!source && (
            <TextInput
              label="Secret of the sender"
              description={SECRET_HINTS[preset?.secretFrom ?? 'either']}
              autoComplete="off"
              value={draft.secret}
              error={problem?.byField['/secret']}
              onChange={(event) => edit({ secret: event.currentTarget.value })}
            />
          )}
          <SourceTemplates draft={draft} problem={problem} onEdit={edit} />
          {problem && <ErrorText>{problem.message}</ErrorText>}
          <div>
            <Button type="submit" loading={isBusy} disabled={!isComplete}>
              {source ? 'Save source' : 'Create source'}
            </Button>
          </div>
        </section>
        <SourcePreview
          text={payloadText}
          onText={setPayloadText}
          payload={payload}
          definition={definitionOf(tested.draft)}
        />
      </form>
    </>
  )
}
