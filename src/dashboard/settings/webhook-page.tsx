import { Button, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, dataOf, type Schema } from '../api/client.ts'
import { webhookSecretsQuery } from '../api/queries.ts'
import { ConfirmDialog } from '../components/confirm-dialog.tsx'
import { CopyBlock } from '../components/copy-block.tsx'
import { LoadError } from '../components/load-error.tsx'
import { RelativeTime } from '../components/relative-time.tsx'
import { SecretDialog } from '../components/secret-dialog.tsx'
import { useMutation } from '../components/use-mutation.ts'
import { Link } from '../navigation/link.tsx'
import { feedbackAddress, feedbackCurl } from './feedback-curl.ts'
import { PageHeader } from './page-header.tsx'
import styles from './settings.module.css'

type Secret = Schema<'WebhookSecret'>
type Receiver = Schema<'FeedbackReceiver'>
const MAX_SECRETS = 2

export default function WebhookPage() {
  const query = useQuery(webhookSecretsQuery)
  const { mutate, refresh, isBusy } = useMutation('webhook-secrets')
  const [secret, setSecret] = useState<string>()
  const [revoking, setRevoking] = useState<Secret>()
  const receiver = query.data?.receiver
  const address = feedbackAddress(receiver?.baseUrl)

  async function create() {
    const created = await mutate("Couldn't create a secret", () =>
      dataOf(api.POST('/api/webhook-secrets', { body: {} })),
    )
    if (created) setSecret(created.secret)
  }
  async function rotate(id: string) {
    const created = await mutate("Couldn't rotate the secret", () =>
      dataOf(api.POST('/api/webhook-secrets/{id}/rotate', { params: { path: { id } }, body: {} })),
    )
    if (created) setSecret(created.secret)
  }

  const secrets = query.data?.data ?? []
  return (
    <>
      <PageHeader
        title="Feedback webhook"
        action={
          <Button onClick={() => void create()} loading={isBusy} disabled={secrets.length >= MAX_SECRETS}>
            Create secret
          </Button>
        }
      >
        {secrets.length >= MAX_SECRETS && 'At most two secrets can exist; revoke one to create another. '}
        Each <code>feedback_submitted</code> event from your analytics platform becomes a task in the list
        “User Feedback”. <Link to="/settings/routing">Routing rules</Link> choose the project.
      </PageHeader>
      <section className={styles.section}>
        <h2>1. URL</h2>
        <CopyBlock text={address} />
        {receiver?.port && (
          <p className="quiet small">
            The receiver also listens on port {receiver.port} (<code>WEBHOOK_PORT</code>). If only that port
            is public, use its host and port in the URL.
          </p>
        )}
      </section>
      <section className={styles.section}>
        <h2>2. Authorization header</h2>
        <CopyBlock text="Authorization: Bearer <secret>" />
        {query.isPending && <Skeleton height={60} />}
        {query.isError && <LoadError what="secrets" query={query} />}
        {receiver && <SecretStatus count={secrets.length} receiver={receiver} />}
        {secrets.length > 0 && (
          <ul className={styles.rows}>
            {secrets.map((item) => (
              <li key={item.id} className={styles.item}>
                <div className={styles.main}>
                  <code>…{item.lastFour}</code>
                  <div className="quiet small">
                    Created <RelativeTime dateTime={item.createdAt} /> ·{' '}
                    {item.lastUsedAt ? (
                      <>
                        used <RelativeTime dateTime={item.lastUsedAt} />
                      </>
                    ) : (
                      'never used'
                    )}
                    {item.expiresAt && (
                      <>
                        {' '}
                        · expires <RelativeTime dateTime={item.expiresAt} />
                      </>
                    )}
                  </div>
                </div>
                {item.expiresAt === null && (
                  <Button
                    variant="default"
                    disabled={secrets.length >= MAX_SECRETS}
                    onClick={() => void rotate(item.id)}
                  >
                    Rotate
                  </Button>
                )}
                <Button variant="default" onClick={() => setRevoking(item)}>
                  Revoke
                </Button>
              </li>
            ))}
          </ul>
        )}
      </section>
      <section className={styles.section}>
        <h2>3. Body</h2>
        <p className="quiet small" style={{ margin: 0 }}>
          The default body of the platform works. This flat JSON body is easier to read in the list of
          deliveries. The <code>uuid</code> prevents duplicate tasks when an event is sent more than once.
        </p>
        <CopyBlock text={BODY_TEMPLATE} />
      </section>
      <section className={styles.section}>
        <h2>4. Filter</h2>
        <p className="quiet small" style={{ margin: 0 }}>
          Send only <code>feedback_submitted</code> events. Other events are ignored.
        </p>
      </section>
      <section className={styles.section}>
        <h2>Try it</h2>
        <CopyBlock text={feedbackCurl()} />
        <p className="quiet small">
          Each delivery is listed under{' '}
          <Link to="/incoming" search={{ receiver: 'feedback' }}>
            incoming deliveries
          </Link>
          .
        </p>
      </section>
      {secret && (
        <SecretDialog
          title="Webhook secret"
          secret={secret}
          example={feedbackCurl(secret)}
          onStored={() => setSecret(undefined)}
        />
      )}
      {revoking && (
        <ConfirmDialog
          title={`Revoke secret …${revoking.lastFour}?`}
          verb="Revoke secret"
          onClose={() => setRevoking(undefined)}
          onConfirm={async () => {
            await dataOf(api.DELETE('/api/webhook-secrets/{id}', { params: { path: { id: revoking.id } } }))
            await refresh()
          }}
        >
          Events sent with this secret are rejected immediately. This can't be undone.
        </ConfirmDialog>
      )}
    </>
  )
}

/** Says whether another secret exists, or none. */
function SecretStatus({ count, receiver }: { count: number; receiver: Receiver }) {
  if (receiver.hasEnvironmentSecret) {
    return (
      <p className="quiet small">
        The secret in <code>WEBHOOK_SECRET</code> is accepted{count > 0 && ' as well'}.
      </p>
    )
  }
  if (count > 0) return null
  return (
    <p role="status" style={{ color: 'var(--amber)', margin: 0 }}>
      No secret is set, so all feedback is rejected. Create a secret.
    </p>
  )
}

/** The platform's template syntax: a string that is only a placeholder becomes the value, including objects. */
const BODY_TEMPLATE = `{
  "uuid": "{event.uuid}",
  "event": "{event.event}",
  "distinct_id": "{event.distinct_id}",
  "timestamp": "{event.timestamp}",
  "properties": "{event.properties}"
}`
