import { Button, Checkbox, Modal, Select, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import type { Schema } from '../api/client.ts'
import { type Problem, problemOf } from '../api/problem.ts'
import { projectsQuery } from '../api/queries.ts'
import { serverNow } from '../api/server-clock.ts'
import { ErrorText } from '../components/error-text.tsx'
import { useMutation } from '../components/use-mutation.ts'
import type { Scope } from '../session/session.ts'

const SCOPES: Record<Scope, string> = {
  'tasks:read': 'Read tasks, comments, lists, projects and live updates',
  'tasks:write': 'Create and edit tasks, comments and lists',
  'rules:read': 'Read AI instructions',
  'rules:write': 'Edit AI instructions',
  'activity:write': 'Log activity',
  'codehost:sync': 'Start a sync of issues and pull requests',
  'metrics:read': 'Read Prometheus metrics (all projects only)',
  admin: 'Full access, including keys and settings',
}
const LIFETIMES = { never: 'Never', '30': '30 days', '90': '90 days', '365': '1 year' }

/** All scopes, in the order of the form. */
export const ALL_SCOPES = Object.keys(SCOPES) as Scope[]

/** What the form offers, and what it creates. */
export interface NewKeyFields {
  title: string
  /** Of the name. */
  description: string
  scopes: Scope[]
  /** Whether there are projects to choose from. */
  hasProjects: boolean
  create(key: NewKey): Promise<Schema<'ApiKeyWithSecret'>>
}

export interface NewKey {
  name: string
  scopes: Scope[]
  projectId?: string
  expiresAt?: string
}

interface NewKeyDialogProps extends NewKeyFields {
  onClose(): void
  onCreated(key: Schema<'ApiKeyWithSecret'>): void
}

export function NewKeyDialog(props: NewKeyDialogProps) {
  const { title, description, scopes: offered, hasProjects, create, onClose, onCreated } = props
  const { data: projects = [] } = useQuery(projectsQuery)
  const { mutate, isBusy } = useMutation('keys')
  const [name, setName] = useState('')
  const [scopes, setScopes] = useState<string[]>(offered.filter((scope) => scope !== 'admin'))
  const [projectId, setProjectId] = useState<string | null>(null)
  const [lifetime, setLifetime] = useState<string>('never')
  const [problem, setProblem] = useState<Problem>()

  async function submit(event: FormEvent) {
    event.preventDefault()
    setProblem(undefined)
    const expiresAt =
      lifetime === 'never' ? null : new Date(serverNow() + Number(lifetime) * 86_400_000).toISOString()
    const created = await mutate('', () =>
      create({
        name: name.trim(),
        scopes: scopes as Scope[],
        ...(projectId && { projectId }),
        ...(expiresAt && { expiresAt }),
      }).catch((error) => {
        setProblem(problemOf(error))
        return undefined
      }),
    )
    if (created) onCreated(created)
  }

  return (
    <Modal opened onClose={onClose} title={title}>
      <form onSubmit={submit} className="stack">
        <TextInput
          label="Name"
          description={description}
          placeholder="ci"
          data-autofocus
          required
          maxLength={100}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <Checkbox.Group label="Scopes" value={scopes} onChange={setScopes}>
          <div className="stack" style={{ gap: 6, paddingTop: 6 }}>
            {offered.map((scope) => (
              <Checkbox key={scope} value={scope} label={scope} description={SCOPES[scope]} size="sm" />
            ))}
          </div>
        </Checkbox.Group>
        <div className="row" style={{ alignItems: 'flex-end' }}>
          {hasProjects && (
            <Select
              label="Project"
              placeholder="All projects"
              clearable
              data={projects.map((project) => ({ value: project.id, label: project.name }))}
              value={projectId}
              onChange={setProjectId}
              style={{ flex: 1 }}
            />
          )}
          <Select
            label="Expires"
            data={Object.entries(LIFETIMES).map(([value, label]) => ({ value, label }))}
            value={lifetime}
            allowDeselect={false}
            onChange={(value) => setLifetime(value ?? 'never')}
            style={{ flex: 1 }}
          />
        </div>
        {problem && <ErrorText>{problem.message}</ErrorText>}
        <div>
          <Button type="submit" loading={isBusy} disabled={name.trim() === '' || scopes.length === 0}>
            Create key
          </Button>
        </div>
      </form>
    </Modal>
  )
}
