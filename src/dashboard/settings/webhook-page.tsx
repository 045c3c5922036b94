import { Button, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { api, dataOf, type Schema } from '../api/client.ts'
import { webhookSecretsQuery } from '../api/queries.ts'
import { ConfirmDialog } from '../components/confirm-dialog.tsx'
import { CopyBlock } from '../components/copy-block.tsx'
import { LoadError } from '../components/load-error.tsx'
import { RelativeTime } from '../components/relative-time.tsx'
import { SecretDialog } from '../components/secret-dialog.tsx'
import { useMutation } from '../components/use-mutation.ts'
import { feedbackAddress, feedbackCurl } from './feedback-curl.ts'
import { PageHeader } from './page-header.tsx'
import styles from './settings.module.css'

type Secret = Schema<'WebhookSecret'>
type Receiver = Schema<'FeedbackReceiver'>
const MAX_SECRETS = 2

export function WebhookPage() {
  const query = useQuery(webhookSecretsQuery)
  const { mutate, refresh, isBusy } = useMutation('webhook-secrets')
  const [secret, setSecret] = useState<string>()
  const [revoking, setRevoking] = useState<Secret>()
  const receiver = query.data?.receiver
  const address = feedbackAddress(receiver?.baseUrl)

  async function create() {
    const created = await mutate('No secret was made', () =>
      dataOf(api.POST('/api/webhook-secrets', { body: {} })),
    )
    if (created) setSecret(created.secret)
  }
  async function rotate(id: string) {
    const created = await mutate('The secret was not rotated', () =>
      dataOf(api.POST('/api/webhook-secrets/{id}/rotate', { params: { path: { id } }, body: {} })),
    )
    if (created) setSecret(created.secret)
  }

  const secrets = query.data?.data ?? []
  return (
    <div className={styles.content}>
      <PageHeader
        title="Feedback webhook"
        action={
          <Button onClick={() => void create()} loading={isBusy} disabled={secrets.length >= MAX_SECRETS}>
            Create secret
          </Button>
        }
      >
        {secrets.length >= MAX_SECRETS && 'Two secrets are kept: revoke one to make another. '}
        The analytics platform sends each <code>feedback_submitted</code> event here, and each becomes a task
        in the list “User Feedback”. <Link to="/settings/routing">Routing</Link> decides in which project.
      </PageHeader>
      <section className={styles.section}>
        <h2>1. The address</h2>
        <CopyBlock text={address} />
        {receiver?.port && (
          <p className="quiet small">
            The receiver alone also listens on port {receiver.port} (<code>WEBHOOK_PORT</code>): with that one
            on the internet and the rest not, put its address before the path.
          </p>
        )}
      </section>
      <section className={styles.section}>
        <h2>2. The header, with a secret in place of the dots</h2>
        <CopyBlock text="Authorization: Bearer …" />
        {query.isPending && <Skeleton height={60} />}
        {query.isError && <LoadError what="The secrets" query={query} />}
        {receiver && <SecretStatus count={secrets.length} receiver={receiver} />}
        {secrets.length > 0 && (
          <ul className={styles.rows}>
            {secrets.map((item) => (
              <li key={item.id} className={styles.item}>
                <div className={styles.main}>
                  <code>…{item.lastFour}</code>
                  <div className="quiet small">
                    Made <RelativeTime dateTime={item.createdAt} /> ·{' '}
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
                        · ends <RelativeTime dateTime={item.expiresAt} />
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
        <h2>3. The body</h2>
        <p className="quiet small" style={{ margin: 0 }}>
          The platform’s default body works as it is; this one is flat, and easier to read in the inbox. Paste
          it as the JSON body: each placeholder takes the value of the event, and the properties come whole.
          The <code>uuid</code> makes sure that an event which is sent twice is one task.
        </p>
        <CopyBlock text={BODY_TEMPLATE} />
      </section>
      <section className={styles.section}>
        <h2>4. The filter</h2>
        <p className="quiet small" style={{ margin: 0 }}>
          Send only the event <code>feedback_submitted</code>. Others are answered and ignored.
        </p>
      </section>
      <section className={styles.section}>
        <h2>Try it</h2>
        <CopyBlock text={feedbackCurl()} />
        <p className="quiet small">
          What came in, and what became of it, stands in the <Link to="/settings/events">event inbox</Link>.
        </p>
      </section>
      {secret && (
        <SecretDialog
          title="The webhook secret"
          secret={secret}
          example={feedbackCurl(secret)}
          onStored={() => setSecret(undefined)}
        />
      )}
      {revoking && (
        <ConfirmDialog
          title={`Revoke the secret …${revoking.lastFour}?`}
          verb="Revoke secret"
          onClose={() => setRevoking(undefined)}
          onConfirm={async () => {
            await dataOf(api.DELETE('/api/webhook-secrets/{id}', { params: { path: { id: revoking.id } } }))
            await refresh()
          }}
        >
          Events that come with it are refused from now on. This cannot be taken back.
        </ConfirmDialog>
      )}
    </div>
  )
}

/** Says whether another secret exists, or none. */
function SecretStatus({ count, receiver }: { count: number; receiver: Receiver }) {
  if (receiver.hasEnvironmentSecret) {
    return (
      <p className="quiet small">
        The secret that is set as <code>WEBHOOK_SECRET</code> works{count > 0 && ' beside these'}.
      </p>
    )
  }
  if (count > 0) return null
  return (
    <p role="status" style={{ color: 'var(--amber)', margin: 0 }}>
      There is no secret, so all feedback is refused. Create one.
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
