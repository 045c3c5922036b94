import { Modal, Select, TagsInput, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { api, dataOf } from '../api/client.ts'
import { type Problem, problemOf } from '../api/problem.ts'
import { projectsQuery } from '../api/queries.ts'
import { FormEnd } from '../components/form-end.tsx'
import { useFormDraft } from '../components/use-form-draft.ts'
import { useMutation } from '../components/use-mutation.ts'
import { isolate } from '../lib/isolate.ts'
import { useMe } from '../session/session.ts'
import type { Webhook, WebhookWithSecret } from './outgoing-queries.ts'

/** Suggestions; other systems log further types. */
const TYPES = [
  'task.created',
  'task.updated',
  'task.completed',
  'task.reopened',
  'task.deleted',
  'task.restored',
  'comment.created',
  'feedback.received',
  'sync.finished',
  'pipe.failed',
  'pipe.recovered',
]

interface OutgoingDialogProps {
  /** The webhook to edit; a new one if undefined. */
  webhook: Webhook | undefined
  onClose(): void
  onCreated(webhook: WebhookWithSecret): void
}

interface Fields {
  name: string
  url: string
  types: string[]
  projectId: string | null
}

/** Adds or edits an outgoing webhook. */
export function OutgoingDialog({ webhook, onClose, onCreated }: OutgoingDialogProps) {
  const { isServiceWide } = useMe()
  const { data: projects = [] } = useQuery(projectsQuery)
  const { mutate, isBusy } = useMutation('outgoing-webhooks')
  const draft = useFormDraft<Fields>(`webhook:${webhook?.id ?? 'new'}`, {
    name: webhook?.name ?? '',
    url: webhook?.url ?? '',
    types: webhook?.types ?? [],
    projectId: null,
  })
  const { name, url, types, projectId } = draft.values
  const [problem, setProblem] = useState<Problem>()

  async function save(event: FormEvent) {
    event.preventDefault()
    if (webhook && !draft.isDraft) return onClose()
    const body = { name: name.trim(), url: url.trim(), types }
    await mutate('', async () => {
      try {
        if (webhook) {
          const params = { path: { id: webhook.id } }
          await dataOf(api.PATCH('/api/webhooks/{id}', { params, body: draft.onlyChanged(body) }))
        } else {
          onCreated(
            await dataOf(api.POST('/api/webhooks', { body: { ...body, ...(projectId && { projectId }) } })),
          )
        }
        draft.discard()
        onClose()
      } catch (error) {
        setProblem(problemOf(error))
      }
    })
  }

  return (
    <Modal opened onClose={onClose} title={webhook ? `Edit “${isolate(webhook.name)}”` : 'Add a webhook'}>
      <form onSubmit={save} className="stack">
        <TextInput
          label="Name"
          placeholder="Chat"
          data-autofocus
          required
          maxLength={100}
          value={name}
          error={problem?.byField['/name']}
          onChange={(event) => draft.change({ name: event.currentTarget.value })}
        />
        <TextInput
          label="URL"
          description="Changes are posted to this URL. It must be https and public."
          placeholder="https://hooks.example.com/inlet"
          required
          value={url}
          error={problem?.byField['/url']}
          onChange={(event) => draft.change({ url: event.currentTarget.value })}
        />
        <TagsInput
          label="Types of activity"
          description="Leave empty to send all types."
          placeholder={types.length === 0 ? 'All types' : ''}
          data={TYPES}
          maxTags={50}
          value={types}
          error={problem?.byField['/types']}
          onChange={(types) => draft.change({ types })}
        />
        {!webhook && isServiceWide && (
          <Select
            label="Project"
            placeholder="All projects"
            clearable
            data={projects
              .filter(({ archivedAt }) => !archivedAt)
              .map((project) => ({ value: project.id, label: project.name }))}
            value={projectId}
            onChange={(projectId) => draft.change({ projectId })}
          />
        )}
        <FormEnd
          draft={draft}
          verb={webhook ? 'Save webhook' : 'Add webhook'}
          error={problem?.message}
          isBusy={isBusy}
          isDisabled={name.trim() === '' || url.trim() === ''}
          onClose={onClose}
        />
      </form>
    </Modal>
  )
}
