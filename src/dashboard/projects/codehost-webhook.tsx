import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type Ref, useState } from 'react'
import { api, dataOf, type Schema } from '../api/client.ts'
import { statusQuery } from '../api/status-query.ts'
import { CopyBlock } from '../components/copy-block.tsx'
import { ErrorText } from '../components/error-text.tsx'
import { RelativeTime } from '../components/relative-time.tsx'
import { SecretDialog } from '../components/secret-dialog.tsx'
import { useMutation } from '../components/use-mutation.ts'
import { Link } from '../navigation/link.tsx'

interface CodehostWebhookProps {
  ref: Ref<HTMLElement>
  projectId: string
  connection: Schema<'Connection'>
  isReadOnly: boolean
}

/** The webhook of a connection: its URL, and whether it works. */
export function CodehostWebhook({
  ref,
  projectId,
  connection: {
    id,
    webhook: { url, hasSecret, lastDeliveryAt },
  },
  isReadOnly,
}: CodehostWebhookProps) {
  const { mutate, isBusy } = useMutation('connection')
  const [created, setCreated] = useState<Schema<'ConnectionWebhookSecret'>>()

  async function create() {
    const secret = await mutate("Couldn't create a secret", () =>
      dataOf(api.POST('/api/projects/{id}/codehost/webhook-secret', { params: { path: { id: projectId } } })),
    )
    if (secret) setCreated(secret)
  }

  return (
    <section className="stack" aria-label="Webhook" ref={ref}>
      <div>
        <h3 style={{ margin: 0, fontSize: 14 }}>Webhook</h3>
        <p className="quiet small" style={{ margin: '4px 0 0' }}>
          With a webhook, changes in the repository appear here within seconds. Otherwise they appear with the
          next sync.
        </p>
      </div>
      <WebhookError projectId={projectId} connectionId={id} />
      <CopyBlock caption="Payload URL" text={url} />
      <p className="small">
        {lastDeliveryAt ? (
          <>
            Last delivery <RelativeTime dateTime={lastDeliveryAt} />.{' '}
          </>
        ) : hasSecret ? (
          <span className="quiet">No delivery received yet. </span>
        ) : (
          <span style={{ color: 'var(--amber)' }}>
            No secret is set, so deliveries are rejected. Create a secret.{' '}
          </span>
        )}
        <Link to="/incoming" search={{ receiver: 'codehost', projectId }}>
          View deliveries
        </Link>
      </p>
      {!isReadOnly && (
        <div>
          <Button variant="default" loading={isBusy} onClick={() => void create()}>
            {hasSecret ? 'New secret' : 'Create secret'}
          </Button>
        </div>
      )}
      {created && (
        <WebhookSecretDialog
          url={created.url}
          secret={created.secret}
          isReplacing={created.previousExpiresAt !== null}
          onStored={() => setCreated(undefined)}
        />
      )}
    </section>
  )
}

/** Why the last delivery failed; nothing when it did not. */
function WebhookError({ projectId, connectionId }: { projectId: string; connectionId: string }) {
  const { data: status } = useQuery(statusQuery({ kind: ['push'], projectId }))
  const pipe = status?.data.find(({ id }) => id === connectionId)
  if (pipe?.state !== 'failing' || !pipe.lastError) return null
  const { at, detail } = pipe.lastError
  return (
    <ErrorText>
      Last delivery failed <RelativeTime dateTime={at} />: {detail}
    </ErrorText>
  )
}

interface WebhookSecretDialogProps {
  url: string
  secret: string
  /** Whether there was a secret before. */
  isReplacing?: boolean
  onStored(): void
}

/** What to enter at the code host; the secret is shown only here. */
export function WebhookSecretDialog({ url, secret, isReplacing, onStored }: WebhookSecretDialogProps) {
  return (
    <SecretDialog title="Webhook secret" secret={secret} onStored={onStored}>
      <p style={{ margin: 0 }}>
        {isReplacing
          ? 'Replace the secret in the settings of the webhook at the code host. The previous secret works for one more day.'
          : 'To see changes within seconds, add a webhook in the settings of the repository at the code host, with this URL and secret, and the content type application/json. Select the events Issues, Pull requests, Issue comments, and Repositories.'}
      </p>
      {!isReplacing && <CopyBlock caption="Payload URL" text={url} />}
    </SecretDialog>
  )
}
