import { Button, Modal, Select, TagsInput, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { api, dataOf } from '../api/client.ts'
import { type Problem, problemOf } from '../api/problem.ts'
import { projectsQuery } from '../api/queries.ts'
import { ErrorText } from '../components/error-text.tsx'
import { useMutation } from '../components/use-mutation.ts'
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
]

interface OutgoingDialogProps {
  /** The webhook to edit; a new one if undefined. */
  webhook: Webhook | undefined
  onClose(): void
  onCreated(webhook: WebhookWithSecret): void
}

/** Adds or edits an outgoing webhook. */
export function OutgoingDialog({ webhook, onClose, onCreated }: OutgoingDialogProps) {
  const { isServiceWide } = useMe()
  const { data: projects = [] } = useQuery(projectsQuery)
  const { mutate, isBusy } = useMutation('outgoing-webhooks')
  const [name, setName] = useState(webhook?.name ?? '')
  const [url, setUrl] = useState(webhook?.url ?? '')
  const [types, setTypes] = useState(webhook?.types ?? [])
  const [projectId, setProjectId] = useState<string | null>(null)
  const [problem, setProblem] = useState<Problem>()

  async function save(event: FormEvent) {
    event.preventDefault()
    const body = { name: name.trim(), url: url.trim(), types }
    await mutate('', async () => {
      try {
        if (webhook) {
          await dataOf(api.PATCH('/api/webhooks/{id}', { params: { path: { id: webhook.id } }, body }))
        } else {
          onCreated(
            await dataOf(api.POST('/api/webhooks', { body: { ...body, ...(projectId && { projectId }) } })),
          )
        }
        onClose()
      } catch (error) {
        setProblem(problemOf(error))
      }
    })
  }

  return (
    <Modal opened onClose={onClose} title={webhook ? `Edit “${webhook.name}”` : 'Add a webhook'}>
      <form onSubmit={save} className="stack">
        <TextInput
          label="Name"
          placeholder="Chat"
          data-autofocus
          required
          maxLength={100}
          value={name}
          error={problem?.byField['/name']}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <TextInput
          label="URL"
          description="Changes are posted to this URL. It must be https and public."
          placeholder="https://hooks.example.com/inlet"
          required
          value={url}
          error={problem?.byField['/url']}
          onChange={(event) => setUrl(event.currentTarget.value)}
        />
        <TagsInput
          label="Types of activity"
          description="Leave empty to send all types."
          placeholder={types.length === 0 ? 'All types' : ''}
          data={TYPES}
          maxTags={50}
          value={types}
          error={problem?.byField['/types']}
          onChange={setTypes}
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
            onChange={setProjectId}
          />
        )}
        {problem && <ErrorText>{problem.message}</ErrorText>}
        <div>
          <Button type="submit" loading={isBusy} disabled={name.trim() === '' || url.trim() === ''}>
            {webhook ? 'Save webhook' : 'Add webhook'}
          </Button>
        </div>
      </form>
    </Modal>
  )
}
