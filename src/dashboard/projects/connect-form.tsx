import { Button, Checkbox, Select, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { api, dataOf } from '../api/client.ts'
import type { Connection } from '../api/connection-query.ts'
import { type Problem, problemOf } from '../api/problem.ts'
import { listsQuery } from '../api/queries.ts'
import { ErrorText } from '../components/error-text.tsx'
import { useDraft } from '../components/use-draft.ts'
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
  const { mutate, isBusy } = useMutation('connection', 'projects', 'syncs')
  const [repository = connection?.repository ?? '', setRepository] = useDraft(`repository:${projectId}`)
  const [credentials, setCredentials] = useState(() => storedCredentials(connection))
  const [apiUrl, setApiUrl] = useState(connection?.apiUrl ?? '')
  const [listId, setListId] = useState<string | null>(connection?.listId ?? null)
  const [schedule, setSchedule] = useState<string>(connection?.schedule ?? 'hourly')
  const [hasComments, setHasComments] = useState(connection?.comments ?? false)
  const [writeBack, setWriteBack] = useState<string>(connection?.writeBack ?? 'off')
  const [problem, setProblem] = useState<Problem>()

  async function connect(event: FormEvent) {
    event.preventDefault()
    setProblem(undefined)
    const body = {
      repository: repository.trim(),
      schedule: schedule as Connection['schedule'],
      writeBack: writeBack as Connection['writeBack'],
      ...credentialsToSend(credentials, connection),
      ...(apiUrl.trim() && { apiUrl: apiUrl.trim() }),
      listId,
      comments: hasComments,
    }
    await mutate('', async () => {
      try {
        const connection = await dataOf(
          api.PUT('/api/projects/{id}/codehost', { params: { path: { id: projectId } }, body }),
        )
        setRepository(undefined)
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
        onChange={(event) => setRepository(event.currentTarget.value)}
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
          onChange={setListId}
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
          onChange={(value) => setSchedule(value ?? 'hourly')}
          style={{ flex: 1 }}
        />
      </div>
      <Checkbox
        label="Sync comments"
        description="Comments on issues and pull requests appear on their tasks, older ones included. If you turn this off, no new ones are added."
        checked={hasComments}
        onChange={(event) => setHasComments(event.currentTarget.checked)}
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
        onChange={(value) => setWriteBack(value ?? 'off')}
      />
      <TextInput
        label="API URL"
        description={connection ? 'Leave empty to keep the current URL.' : 'For self-hosted code hosts only.'}
        placeholder="https://code.example.com/api/v3"
        value={apiUrl}
        error={fieldErrors?.apiUrl && <span role="alert">{fieldErrors.apiUrl}</span>}
        onChange={(event) => setApiUrl(event.currentTarget.value)}
      />
      {/* Shown either at its field or here. */}
      {problem && Object.keys(fieldErrors ?? {}).length === 0 && <ErrorText>{problem.message}</ErrorText>}
      <div className="row">
        <Button type="submit" loading={isBusy} disabled={repository.trim() === ''}>
          {connection ? 'Save connection' : 'Connect repository'}
        </Button>
        <Button variant="default" onClick={() => onClose()}>
          Cancel
        </Button>
      </div>
    </form>
  )
}

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
