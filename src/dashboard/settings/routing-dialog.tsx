import { Button, Modal, Select, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { api, dataOf, type Schema } from '../api/client.ts'
import { type Problem, problemOf } from '../api/problem.ts'
import { projectsQuery } from '../api/queries.ts'
import { ErrorText } from '../components/error-text.tsx'
import { useIdempotentSend } from '../components/use-idempotent-send.ts'
import { useMutation } from '../components/use-mutation.ts'

interface RoutingDialogProps {
  rule: Schema<'RoutingRule'> | undefined
  onClose(): void
}

export function RoutingDialog({ rule, onClose }: RoutingDialogProps) {
  const { data: projects = [] } = useQuery(projectsQuery)
  const { mutate, isBusy } = useMutation('routing')
  const sendOnce = useIdempotentSend('routing-rule')
  const [name, setName] = useState(rule?.name ?? '')
  const [app, setApp] = useState(rule?.appMatch ?? '')
  const [project, setProject] = useState(rule?.projectMatch ?? '')
  const [target, setTarget] = useState<string | null>(rule?.targetProjectId ?? null)
  const [problem, setProblem] = useState<Problem>()
  const isComplete = target !== null && (app.trim() !== '' || project.trim() !== '')

  async function save(event: FormEvent) {
    event.preventDefault()
    if (!isComplete || target === null) return
    const body = {
      name: name.trim() || null,
      appMatch: app.trim() || null,
      projectMatch: project.trim() || null,
      targetProjectId: target,
    }
    await mutate('', async () => {
      try {
        if (rule) {
          await dataOf(api.PATCH('/api/webhook-routing/{id}', { params: { path: { id: rule.id } }, body }))
        } else {
          await sendOnce(body, (header) =>
            dataOf(api.POST('/api/webhook-routing', { params: { header }, body })),
          )
        }
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
          value={app}
          error={problem?.byField['/appMatch']}
          onChange={(event) => setApp(event.currentTarget.value)}
        />
        <TextInput
          label="and project is"
          description="The event's project_id or project_name. At least one of app and project is required."
          value={project}
          error={problem?.byField['/projectMatch']}
          onChange={(event) => setProject(event.currentTarget.value)}
        />
        <Select
          label="put feedback in"
          placeholder="Choose a project"
          data={projects
            .filter(({ archivedAt }) => !archivedAt)
            .map(({ id, name }) => ({ value: id, label: name }))}
          value={target}
          onChange={setTarget}
          required
        />
        <TextInput
          label="Name"
          description="Optional. Shown on each task that this rule routes."
          placeholder="iOS app"
          maxLength={100}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        {problem && <ErrorText>{problem.message}</ErrorText>}
        <div>
          <Button type="submit" loading={isBusy} disabled={!isComplete}>
            {rule ? 'Save rule' : 'Add rule'}
          </Button>
        </div>
      </form>
    </Modal>
  )
}
