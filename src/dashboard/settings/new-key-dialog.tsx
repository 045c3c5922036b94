import { Checkbox, Modal, Select, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import type { Schema } from '../api/client.ts'
import { type Problem, problemOf } from '../api/problem.ts'
import { projectsQuery } from '../api/queries.ts'
import { serverNow } from '../api/server-clock.ts'
import { FormEnd } from '../components/form-end.tsx'
import { useFormDraft } from '../components/use-form-draft.ts'
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

interface Fields {
  name: string
  scopes: string[]
  projectId: string | null
  lifetime: string
}

export function NewKeyDialog(props: NewKeyDialogProps) {
  const { title, description, scopes: offered, hasProjects, create, onClose, onCreated } = props
  const { data: projects = [] } = useQuery(projectsQuery)
  const { mutate, isBusy } = useMutation('keys')
  const draft = useFormDraft<Fields>(`key:${title}`, {
    name: '',
    scopes: offered.filter((scope) => scope !== 'admin'),
    projectId: null,
    lifetime: 'never',
  })
  const { name, scopes, projectId, lifetime } = draft.values
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
    if (!created) return
    draft.discard()
    onCreated(created)
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
          onChange={(event) => draft.change({ name: event.currentTarget.value })}
        />
        <Checkbox.Group label="Scopes" value={scopes} onChange={(scopes) => draft.change({ scopes })}>
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
              onChange={(projectId) => draft.change({ projectId })}
              style={{ flex: 1 }}
            />
          )}
          <Select
            label="Expires"
            data={Object.entries(LIFETIMES).map(([value, label]) => ({ value, label }))}
            value={lifetime}
            allowDeselect={false}
            onChange={(value) => draft.change({ lifetime: value ?? 'never' })}
            style={{ flex: 1 }}
          />
        </div>
        <FormEnd
          draft={draft}
          verb="Create key"
          error={problem?.message}
          isBusy={isBusy}
          isDisabled={name.trim() === '' || scopes.length === 0}
          onClose={onClose}
        />
      </form>
    </Modal>
  )
}
