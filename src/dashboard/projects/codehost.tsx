import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, dataOf } from '../api/client.ts'
import { type Connection, connectionQuery } from '../api/connection-query.ts'
import type { Project } from '../api/queries.ts'
import { ConfirmDialog } from '../components/confirm-dialog.tsx'
import { CurlExample } from '../components/curl-example.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { LoadError } from '../components/load-error.tsx'
import { Loading } from '../components/loading.tsx'
import { RelativeTime } from '../components/relative-time.tsx'
import { useMutation } from '../components/use-mutation.ts'
import { useOpened } from '../navigation/use-opened.ts'
import { useMe } from '../session/session.ts'
import { Section } from '../settings/section.tsx'
import { CodehostWebhook, WebhookSecretDialog } from './codehost-webhook.tsx'
import { ConnectForm } from './connect-form.tsx'
import { SyncRuns } from './sync-runs.tsx'
import { useShown } from './use-shown.ts'
import { useSync } from './use-sync.ts'

/** How soon the first delivery of a webhook that is being set up is shown. */
const WEBHOOK_POLL_MS = 5_000

/** What the address names while the connection is edited. */
const CONNECTION = 'connection'

/** The code host section of the project settings. */
export function Codehost({ project }: { project: Project }) {
  const { can } = useMe()
  const editor = useOpened('edit')
  const mayEdit = can('admin') && !project.archivedAt
  const isEditing = editor.opened === CONNECTION && mayEdit
  const edit = () => editor.open(CONNECTION)
  const [webhook, setWebhook] = useState<Connection['webhook']>()
  const { sync } = useSync(project.id)
  const webhookSection = useShown('webhook')
  const query = useQuery({
    ...connectionQuery(project.id),
    enabled: can('tasks:read'),
    // The stream does not report deliveries.
    refetchInterval: ({ state }) => (state.data && can('admin') ? WEBHOOK_POLL_MS : false),
  })

  return (
    <Section title="Issues and pull requests" label="Code host">
      {query.isPending && can('tasks:read') && (
        <Loading
          what="the connection"
          height={100}
          query={query}
          queryKey={connectionQuery(project.id).queryKey}
        />
      )}
      {query.isError && <LoadError what="the connection" query={query} />}
      {query.data === null && !isEditing && (
        <EmptyState
          isInSection
          title="No repository yet"
          description="Connect a repository to sync its issues and pull requests as tasks. Closing an issue in the repository marks its task as done."
          action={mayEdit && <Button onClick={edit}>Connect repository</Button>}
        >
          <CurlExample
            method="PUT"
            path={`/api/projects/${project.id}/codehost`}
            body={{ repository: 'acme/app', schedule: 'hourly' }}
          />
        </EmptyState>
      )}
      {query.data && !isEditing && <Connected project={project} connection={query.data} onEdit={edit} />}
      {isEditing && query.data !== undefined && (
        <ConnectForm
          projectId={project.id}
          connection={query.data ?? undefined}
          onClose={(stored) => {
            void editor.close()
            if (stored?.webhook.secret) setWebhook(stored.webhook)
          }}
        />
      )}
      {webhook?.secret && (
        <WebhookSecretDialog
          url={webhook.url}
          secret={webhook.secret}
          onStored={() => setWebhook(undefined)}
        />
      )}
      {query.data && (
        <SyncRuns
          projectId={project.id}
          repository={query.data.repository}
          renewText={query.data.app ? 'Check GitHub App' : 'Renew token'}
          onRenew={edit}
          onTryAgain={() => void sync()}
        />
      )}
      {query.data && can('admin') && !isEditing && (
        <CodehostWebhook
          ref={webhookSection}
          projectId={project.id}
          connection={query.data}
          isReadOnly={project.archivedAt !== null}
        />
      )}
    </Section>
  )
}

interface ConnectedProps {
  project: Project
  connection: Connection
  onEdit(): void
}

function Connected({ project, connection, onEdit }: ConnectedProps) {
  const { can } = useMe()
  const { sync, isBusy } = useSync(project.id)
  const { refresh } = useMutation('connection', 'syncs', 'projects', 'status')
  const [isDisconnecting, setDisconnecting] = useState(false)

  return (
    <>
      <p className="breakable">
        <strong>{connection.repository}</strong>{' '}
        <span className="quiet small">
          Connected <RelativeTime dateTime={connection.connectedAt} />
          {credentialsText(connection)}, synced {SCHEDULES[connection.schedule] ?? 'manually'}
          {connection.nextRunAt && (
            <>
              , next <RelativeTime dateTime={connection.nextRunAt} />
            </>
          )}
          {connection.comments && ' with comments'}
        </span>
      </p>
      <p className="quiet small">{WRITE_BACK[connection.writeBack]}</p>
      {!project.archivedAt && (
        <div className="row row-wrap">
          {can('codehost:sync') && (
            <>
              <Button onClick={() => void sync()} loading={isBusy}>
                Sync issues &amp; PRs
              </Button>
              <Button variant="default" onClick={() => void sync('full')} disabled={isBusy}>
                Full sync
              </Button>
            </>
          )}
          {can('admin') && (
            <>
              <Button variant="default" onClick={onEdit}>
                Edit connection
              </Button>
              <Button variant="subtle" color="gray" onClick={() => setDisconnecting(true)}>
                Disconnect
              </Button>
            </>
          )}
        </div>
      )}
      {isDisconnecting && (
        <ConfirmDialog
          title={`Disconnect ${connection.repository}?`}
          verb="Disconnect"
          onClose={() => setDisconnecting(false)}
          onConfirm={async () => {
            await dataOf(api.DELETE('/api/projects/{id}/codehost', { params: { path: { id: project.id } } }))
            await refresh()
          }}
        >
          Its tasks are kept but no longer updated. The stored {connection.app ? 'private key' : 'token'} is
          deleted.
        </ConfirmDialog>
      )}
    </>
  )
}

const WRITE_BACK: Record<Connection['writeBack'], string> = {
  off: 'Changes of tasks are not written to the repository.',
  state: 'Completing a task closes its issue, and reopening it opens the issue.',
  comments:
    'Completing a task closes its issue, and reopening it opens the issue. Public comments are posted to the repository.',
}

const SCHEDULES: Record<string, string> = { off: 'manually', hourly: 'hourly', daily: 'daily' }

function credentialsText({ app, hasToken }: Connection): string {
  if (app) return ` with GitHub App ${app.appId}`
  return hasToken ? ' with a token' : ''
}
