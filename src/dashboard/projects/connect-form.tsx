import { Checkbox, Select, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { api, dataOf } from '../api/client.ts'
import type { Connection } from '../api/connection-query.ts'
import { type Problem, problemOf } from '../api/problem.ts'
import { listsQuery } from '../api/queries.ts'
import { FormEnd } from '../components/form-end.tsx'
import { useFormDraft } from '../components/use-form-draft.ts'
import { useMutation } from '../components/use-mutation.ts'
import { useMe } from '../session/session.ts'
import {
  CredentialsFields,
  credentialsToSend,
  type EnteredCredentials,
  storedCredentials,
} from './credentials-fields.tsx'

interface ConnectFormProps {
  projectId: string
  connection: Connection | undefined
  /** @param connection what was stored; it has a secret if it is new. */
  onClose(connection?: Connection): void
}

export function ConnectForm({ projectId, connection, onClose }: ConnectFormProps) {
  const { data: lists = [] } = useQuery(listsQuery(projectId))
  const isBound = !useMe().isServiceWide
  const { mutate, isBusy } = useMutation('connection', 'projects', 'syncs', 'status')
  const draft = useFormDraft(`connection:${projectId}`, savedValues(connection))
  const { repository, apiUrl, listId, schedule, comments, writeBack } = draft.values
  // Not part of the draft: they are secrets.
  const [credentials, setCredentials] = useState(() => storedCredentials(connection))
  const [problem, setProblem] = useState<Problem>()

  async function connect(event: FormEvent) {
    event.preventDefault()
    setProblem(undefined)
    const body = {
      repository: repository.trim(),
      schedule,
      writeBack,
      ...credentialsToSend(credentials, connection),
      ...(apiUrl.trim() && { apiUrl: apiUrl.trim() }),
      listId,
      comments,
    }
    await mutate('', async () => {
      try {
        const connection = await dataOf(
          api.PUT('/api/projects/{id}/codehost', { params: { path: { id: projectId } }, body }),
        )
        draft.discard()
        onClose(connection)
      } catch (error) {
        setProblem(problemOf(error))
      }
    })
  }

  const fieldErrors = problem && fieldErrorsOf(problem, credentials)
  return (
    <form onSubmit={connect} className="stack" style={{ maxWidth: 480 }}>
      <TextInput
        label="Repository"
        description="owner/name or URL"
        placeholder="acme/app"
        required
        autoFocus
        value={repository}
        error={fieldErrors?.repository && <span role="alert">{fieldErrors.repository}</span>}
        onChange={(event) => draft.change({ repository: event.currentTarget.value })}
      />
      <CredentialsFields
        entered={credentials}
        connection={connection}
        isBound={isBound}
        errors={fieldErrors}
        onChange={setCredentials}
      />
      <div className="row" style={{ alignItems: 'flex-start' }}>
        <Select
          label="List for new tasks"
          placeholder="Default list"
          clearable
          data={lists.map(({ id, name }) => ({ value: id, label: name }))}
          value={listId}
          onChange={(listId) => draft.change({ listId })}
          style={{ flex: 1 }}
        />
        <Select
          label="Sync"
          data={[
            { value: 'hourly', label: 'Hourly' },
            { value: 'daily', label: 'Daily' },
            { value: 'off', label: 'Manually' },
          ]}
          value={schedule}
          allowDeselect={false}
          onChange={(schedule) => schedule && draft.change({ schedule })}
          style={{ flex: 1 }}
        />
      </div>
      <Checkbox
        label="Sync comments"
        description="Comments on issues and pull requests appear on their tasks, older ones included. If you turn this off, no new ones are added."
        checked={comments}
        onChange={(event) => draft.change({ comments: event.currentTarget.checked })}
      />
      <Select
        label="Write back"
        description={
          writeBack === 'off' ? undefined : 'Needs write access to issues. Earlier changes are not written.'
        }
        data={[
          { value: 'off', label: 'Nothing' },
          { value: 'state', label: 'Close and reopen issues' },
          { value: 'comments', label: 'Close and reopen issues, post public comments' },
        ]}
        value={writeBack}
        allowDeselect={false}
        onChange={(writeBack) => writeBack && draft.change({ writeBack })}
      />
      <TextInput
        label="API URL"
        description={connection ? 'Leave empty to keep the current URL.' : 'For self-hosted code hosts only.'}
        placeholder="https://code.example.com/api/v3"
        value={apiUrl}
        error={fieldErrors?.apiUrl && <span role="alert">{fieldErrors.apiUrl}</span>}
        onChange={(event) => draft.change({ apiUrl: event.currentTarget.value })}
      />
      <FormEnd
        draft={draft}
        verb={connection ? 'Save connection' : 'Connect repository'}
        // Shown either at its field or here.
        error={Object.keys(fieldErrors ?? {}).length === 0 ? problem?.message : undefined}
        isBusy={isBusy}
        isDisabled={repository.trim() === ''}
        onClose={() => onClose()}
      />
    </form>
  )
}

interface Values {
  repository: string
  apiUrl: string
  listId: string | null
  schedule: Connection['schedule']
  comments: boolean
  writeBack: Connection['writeBack']
}

const savedValues = (connection: Connection | undefined): Values => ({
  repository: connection?.repository ?? '',
  apiUrl: connection?.apiUrl ?? '',
  listId: connection?.listId ?? null,
  schedule: connection?.schedule ?? 'hourly',
  comments: connection?.comments ?? false,
  writeBack: connection?.writeBack ?? 'off',
})

const FIELD_OF_CODE: Record<string, string> = {
  codehost_repository_not_found: 'repository',
  codehost_token_rejected: 'token',
  codehost_url_not_allowed: 'apiUrl',
}

/** The errors by field; empty when one of them belongs to no field that is shown. */
function fieldErrorsOf(
  { code, byField, message }: Problem,
  { kind }: EnteredCredentials,
): Record<string, string> {
  const secrets = kind === 'token' ? ['token'] : ['app/appId', 'app/installationId', 'app/privateKey']
  const shown = ['repository', 'apiUrl', ...secrets]
  const field = FIELD_OF_CODE[code]
  if (field) return shown.includes(field) ? { [field]: message } : {}
  const named = shown.flatMap((name) => {
    const error = byField[`/${name}`]
    return error === undefined ? [] : [[name, error]]
  })
  return named.length === Object.keys(byField).length ? Object.fromEntries(named) : {}
}
