import { Button, Select } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useMemo, useState } from 'react'
import { api, dataOf } from '../api/client.ts'
import { type Problem, problemOf } from '../api/problem.ts'
import { projectsQuery } from '../api/queries.ts'
import { FormEnd } from '../components/form-end.tsx'
import { useFormDraft } from '../components/use-form-draft.ts'
import { useMutation } from '../components/use-mutation.ts'
import { isolate } from '../lib/isolate.ts'
import { useParameter } from '../navigation/use-parameter.ts'
import { PageHeader } from './page-header.tsx'
import styles from './settings.module.css'
import { definitionOf, draftOf, EMPTY_DRAFT, type SourceDraft, verifyOf } from './source-draft.ts'
import { SourceExample } from './source-example.tsx'
import { SourceFields } from './source-fields.tsx'
import { SourceOff } from './source-off.tsx'
import { SourcePreview } from './source-preview.tsx'
import {
  type Example,
  presetsQuery,
  type Source,
  type SourceTest,
  type SourceWithSecret,
  sourceTestQuery,
  type TestResult,
} from './source-queries.ts'
import { SourceSettings } from './source-settings.tsx'
import { SourceTemplates, type SourceTemplatesProps } from './source-templates.tsx'
import { useSourceExample } from './use-source-example.ts'

interface SourceEditorProps {
  /** Undefined for a new one. */
  source: Source | undefined
  onClose(): void
  /** With the payload that it was tested with. */
  onCreated(source: SourceWithSecret, example: Example | undefined): void
}

type StoredDraft = Omit<SourceDraft, 'secret'>

const TEST_DELAY_MS = 250

/** Adds or edits a source, beside the tasks that a payload would make. */
export function SourceEditor({ source, onClose, onCreated }: SourceEditorProps) {
  const { data: presets = [] } = useQuery(presetsQuery)
  const { data: projects = [] } = useQuery(projectsQuery)
  const { mutate, isBusy } = useMutation('sources', 'status')
  const [presetId, setPresetId] = useParameter('preset')
  const [deliveryId] = useParameter('delivery')
  const linkedId = source ? undefined : deliveryId
  // What was begun for another delivery is no draft for this one.
  const name = `source:${source?.id ?? (linkedId ? `new:${linkedId}` : 'new')}`
  const preset = source ? undefined : presets.find(({ id }) => id === presetId)
  const startedFrom = source ?? preset
  const { secret: _, ...saved } = startedFrom ? draftOf(startedFrom) : EMPTY_DRAFT
  const form = useFormDraft<StoredDraft>(name, saved)
  // Not part of the draft, which is stored.
  const [secret, setSecret] = useState('')
  const draft: SourceDraft = { ...form.values, secret }
  const given = useSourceExample({ name, sourceId: source?.id, deliveryId: linkedId, preset })
  const { example } = given
  const [problem, setProblem] = useState<Problem>()
  // As text: objects would be new each time, and never settle.
  const [definitionText] = useDebouncedValue(
    JSON.stringify({ mapping: draft.mapping, ...definitionOf(draft) }),
    TEST_DELAY_MS,
  )
  const definition: SourceTest['source'] = useMemo(() => JSON.parse(definitionText), [definitionText])
  const test = useQuery(sourceTestQuery(definition, example))
  const projectId = draft.projectId ?? projects.find(({ archivedAt }) => !archivedAt)?.id ?? null
  const isFeedback = draft.mapping === 'feedback'
  const hasTitle = isFeedback || draft.template.title.trim() !== ''
  const isComplete = draft.name.trim() !== '' && hasTitle && projectId !== null
  const errors = { ...(example && errorsOf(test)), ...problem?.byField }

  function edit({ secret, ...change }: Partial<SourceDraft>) {
    if (secret !== undefined) setSecret(secret)
    setProblem(undefined)
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
    given.discard()
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
          onCreated(created, example)
        }
      } catch (error) {
        setProblem(problemOf(error))
      }
    })
  }

  return (
    <>
      <PageHeader
        title={source ? `Edit “${isolate(source.name)}”` : 'Add a source'}
        action={
          <Button variant="default" onClick={onClose}>
            Back to sources
          </Button>
        }
      >
        Give an example of what the sender sends, and click its values to say what the task is made of.
      </PageHeader>
      {source && !source.isActive && <SourceOff source={source} />}
      <form onSubmit={save} className={styles.section}>
        <div className={styles.halves}>
          <div className={styles.section} style={{ gap: 24 }}>
            <section className={styles.section} aria-label="Example">
              <h2>Example</h2>
              {!source && (
                <Select
                  label="Start from"
                  placeholder="Choose a preset, or choose the fields yourself"
                  description={preset?.description}
                  data={presets.map(({ id, name }) => ({ value: id, label: name }))}
                  clearable
                  value={preset?.id ?? null}
                  onChange={startFrom}
                />
              )}
              <SourceExample source={source} example={given} draft={draft} onEdit={edit} />
            </section>
            {!isFeedback && (
              <section className={styles.section} aria-label="Task">
                <h2>Task</h2>
                <SourceFields draft={draft} payload={example?.payload} errors={errors} onEdit={edit} />
                <Advanced draft={draft} errors={errors} onEdit={edit} />
              </section>
            )}
            <SourceSettings
              source={source}
              draft={draft}
              projects={projects}
              projectId={projectId}
              secretFrom={preset?.secretFrom}
              problem={problem}
              onEdit={edit}
            />
          </div>
          <SourcePreview
            hasExample={example !== undefined}
            query={test}
            isNew={!source}
            isFeedback={isFeedback}
          />
        </div>
        <FormEnd
          draft={{
            isDraft: form.isDraft || given.isOwn,
            isOutdated: source !== undefined && form.isOutdated,
            discard,
          }}
          verb={source ? 'Save source' : 'Create source'}
          error={problem?.message}
          isBusy={isBusy}
          isDisabled={!isComplete}
          onClose={onClose}
        />
      </form>
    </>
  )
}

/** The first error of each field of the source. */
function errorsOf({ data, error }: { data: TestResult | undefined; error: Error | null }) {
  if (!error)
    return Object.fromEntries((data?.errors ?? []).toReversed().map(({ path, message }) => [path, message]))
  const named = Object.entries(problemOf(error).byField)
  return Object.fromEntries(named.map(([path, message]) => [path.replace(/^\/source\//, '/'), message]))
}

/** The Liquid that the chosen fields write, and anything else that it can do. */
function Advanced(props: SourceTemplatesProps) {
  const [isOpen, setOpen] = useState(false)
  return (
    <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Advanced</summary>
      {isOpen && (
        <div className={styles.section}>
          <p className="quiet small">
            The fields in{' '}
            <a href="https://shopify.github.io/liquid/basics/introduction/" target="_blank" rel="noreferrer">
              Liquid
            </a>
            , always in step with what you choose. “payload” is what was sent.
          </p>
          <SourceTemplates {...props} />
        </div>
      )}
    </details>
  )
}
