import { Button, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { api, dataOf, type Schema } from '../api/client.ts'
import { webhookSecretsQuery } from '../api/queries.ts'
import { Confirm } from '../components/confirm-dialog.tsx'
import { CopyBlock } from '../components/copy-block.tsx'
import { NotLoaded } from '../components/load-error.tsx'
import { RelativeTime } from '../components/relative-time.tsx'
import { SecretDialog } from '../components/secret-dialog.tsx'
import { useMutation } from '../components/use-mutation.ts'
import { feedbackAddress, feedbackCurl } from './feedback-curl.ts'
import { PageHead } from './page-header.tsx'
import styles from './settings.module.css'

type Secret = Schema<'WebhookSecret'>
type Receiver = Schema<'FeedbackReceiver'>
const MAX_SECRETS = 2

/** Where feedback is sent, and what its sender proves itself with. */
export function WebhookPage() {
  const query = useQuery(webhookSecretsQuery)
  const { act, refresh, isBusy } = useMutation('webhook-secrets')
  const [secret, setSecret] = useState<string>()
  const [revoking, setRevoking] = useState<Secret>()
  const receiver = query.data?.receiver
  const address = feedbackAddress(receiver?.baseUrl)

  async function make() {
    const made = await act('No secret was made', () => dataOf(api.POST('/api/webhook-secrets', { body: {} })))
    if (made) setSecret(made.secret)
  }
  async function rotate(id: string) {
    const made = await act('The secret was not rotated', () =>
      dataOf(api.POST('/api/webhook-secrets/{id}/rotate', { params: { path: { id } }, body: {} })),
    )
    if (made) setSecret(made.secret)
  }

  const secrets = query.data?.data ?? []
  return (
    <div className={styles.content}>
      <PageHead
        title="Feedback webhook"
        action={
          <Button onClick={() => void make()} loading={isBusy} disabled={secrets.length >= MAX_SECRETS}>
            Create secret
          </Button>
        }
      >
        {secrets.length >= MAX_SECRETS && 'Two secrets are kept: revoke one to make another. '}
        The analytics platform sends each <code>feedback_submitted</code> event here, and each becomes a task
        in the list “User Feedback”. <Link to="/settings/routing">Routing</Link> decides in which project.
      </PageHead>
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
        {query.isError && <NotLoaded what="The secrets" query={query} />}
        {receiver && <KnownSecrets count={secrets.length} receiver={receiver} />}
        {secrets.length > 0 && (
          <ul className={styles.rows}>
            {secrets.map((one) => (
              <li key={one.id} className={styles.item}>
                <div className={styles.main}>
                  <code>…{one.lastFour}</code>
                  <div className="quiet small">
                    Made <RelativeTime at={one.createdAt} /> ·{' '}
                    {one.lastUsedAt ? (
                      <>
                        used <RelativeTime at={one.lastUsedAt} />
                      </>
                    ) : (
                      'never used'
                    )}
                    {one.expiresAt && (
                      <>
                        {' '}
                        · ends <RelativeTime at={one.expiresAt} />
                      </>
                    )}
                  </div>
                </div>
                {one.expiresAt === null && (
                  <Button
                    variant="default"
                    disabled={secrets.length >= MAX_SECRETS}
                    onClick={() => void rotate(one.id)}
                  >
                    Rotate
                  </Button>
                )}
                <Button variant="default" onClick={() => setRevoking(one)}>
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
        <Confirm
          title={`Revoke the secret …${revoking.lastFour}?`}
          verb="Revoke secret"
          onClose={() => setRevoking(undefined)}
          onConfirm={async () => {
            await dataOf(api.DELETE('/api/webhook-secrets/{id}', { params: { path: { id: revoking.id } } }))
            await refresh()
          }}
        >
          Events that come with it are refused from now on. This cannot be taken back.
        </Confirm>
      )}
    </div>
  )
}

/** What sender's secrets there are beside the ones in the list. */
function KnownSecrets({ count, receiver }: { count: number; receiver: Receiver }) {
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

/** In the platform's own syntax: a text that is nothing but a placeholder becomes the value, objects included. */
const BODY_TEMPLATE = `{
  "uuid": "{event.uuid}",
  "event": "{event.event}",
  "distinct_id": "{event.distinct_id}",
  "timestamp": "{event.timestamp}",
  "properties": "{event.properties}"
}`
