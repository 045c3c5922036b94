import { Modal, Select, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { api, dataOf, type Schema } from '../api/client.ts'
import { type Problem, problemOf } from '../api/problem.ts'
import { projectsQuery } from '../api/queries.ts'
import { FormEnd } from '../components/form-end.tsx'
import { useFormDraft } from '../components/use-form-draft.ts'
import { useIdempotentSend } from '../components/use-idempotent-send.ts'
import { useMutation } from '../components/use-mutation.ts'

interface RoutingDialogProps {
  rule: Schema<'RoutingRule'> | undefined
  onClose(): void
}

interface Fields {
  appMatch: string
  projectMatch: string
  targetProjectId: string | null
  name: string
}

export function RoutingDialog({ rule, onClose }: RoutingDialogProps) {
  const { data: projects = [] } = useQuery(projectsQuery)
  const { mutate, isBusy } = useMutation('routing')
  const sendOnce = useIdempotentSend('routing-rule')
  const draft = useFormDraft<Fields>(`routing:${rule?.id ?? 'new'}`, {
    appMatch: rule?.appMatch ?? '',
    projectMatch: rule?.projectMatch ?? '',
    targetProjectId: rule?.targetProjectId ?? null,
    name: rule?.name ?? '',
  })
  const { appMatch, projectMatch, targetProjectId, name } = draft.values
  const [problem, setProblem] = useState<Problem>()
  const isComplete = targetProjectId !== null && (appMatch.trim() !== '' || projectMatch.trim() !== '')

  async function save(event: FormEvent) {
    event.preventDefault()
    if (!isComplete || targetProjectId === null) return
    if (rule && !draft.isDraft) return onClose()
    const body = {
      name: name.trim() || null,
      appMatch: appMatch.trim() || null,
      projectMatch: projectMatch.trim() || null,
      targetProjectId,
    }
    await mutate('', async () => {
      try {
        if (rule) {
          const params = { path: { id: rule.id } }
          await dataOf(api.PATCH('/api/webhook-routing/{id}', { params, body: draft.onlyChanged(body) }))
        } else {
          await sendOnce(body, (header) =>
            dataOf(api.POST('/api/webhook-routing', { params: { header }, body })),
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
    <Modal opened onClose={onClose} title={rule ? 'Edit rule' : 'Add rule'}>
      <form onSubmit={save} className="stack">
        <TextInput
          label="When app is"
          description="The event's bundle_id or app_id. Case-insensitive."
          placeholder="com.example.app"
          data-autofocus
          value={appMatch}
          error={problem?.byField['/appMatch']}
          onChange={(event) => draft.change({ appMatch: event.currentTarget.value })}
        />
        <TextInput
          label="and project is"
          description="The event's project_id or project_name. At least one of app and project is required."
          value={projectMatch}
          error={problem?.byField['/projectMatch']}
          onChange={(event) => draft.change({ projectMatch: event.currentTarget.value })}
        />
        <Select
          label="put feedback in"
          placeholder="Choose a project"
          data={projects
            .filter(({ archivedAt }) => !archivedAt)
            .map(({ id, name }) => ({ value: id, label: name }))}
          value={targetProjectId}
          onChange={(id) => draft.change({ targetProjectId: id })}
          required
        />
        <TextInput
          label="Name"
          description="Optional. Shown on each task that this rule routes."
          placeholder="iOS app"
          maxLength={100}
          value={name}
          onChange={(event) => draft.change({ name: event.currentTarget.value })}
        />
        <FormEnd
          draft={draft}
          verb={rule ? 'Save rule' : 'Add rule'}
          error={problem?.message}
          isBusy={isBusy}
          isDisabled={!isComplete}
          onClose={onClose}
        />
      </form>
    </Modal>
  )
}
