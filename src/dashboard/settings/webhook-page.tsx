import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, dataOf, type Schema } from '../api/client.ts'
import { webhookSecretsQuery } from '../api/queries.ts'
import { ConfirmDialog } from '../components/confirm-dialog.tsx'
import { CopyBlock } from '../components/copy-block.tsx'
import { RelativeTime } from '../components/relative-time.tsx'
import { SecretDialog } from '../components/secret-dialog.tsx'
import { useMutation } from '../components/use-mutation.ts'
import { Link } from '../navigation/link.tsx'
import { feedbackAddress, feedbackCurl } from './feedback-curl.ts'
import { LastTime } from './last-time.tsx'
import { PageHeader } from './page-header.tsx'
import { Row, Rows } from './rows.tsx'
import { Section } from './section.tsx'
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
      <Section title="1. URL">
        <CopyBlock text={address} />
        {receiver?.port && (
          <p className="quiet small">
            The receiver also listens on port {receiver.port} (<code>WEBHOOK_PORT</code>). If only that port
            is public, use its host and port in the URL.
          </p>
        )}
      </Section>
      <Section title="2. Authorization header">
        <CopyBlock text="Authorization: Bearer <secret>" />
        {receiver && <SecretStatus count={secrets.length} receiver={receiver} />}
        <Rows label="secrets" query={query} queryKey={webhookSecretsQuery.queryKey}>
          {secrets.map((item) => (
            <Row
              key={item.id}
              name={<code>…{item.lastFour}</code>}
              details={
                <>
                  Created <RelativeTime dateTime={item.createdAt} /> ·{' '}
                  <LastTime verb="used" dateTime={item.lastUsedAt} />
                  {item.expiresAt && (
                    <>
                      {' '}
                      · expires <RelativeTime dateTime={item.expiresAt} />
                    </>
                  )}
                </>
              }
              actions={
                <>
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
                </>
              }
            />
          ))}
        </Rows>
      </Section>
      <Section
        title="3. Body"
        description={
          <>
            The default body of the platform works. This flat JSON body is easier to read in the list of
            deliveries. The <code>uuid</code> prevents duplicate tasks when an event is sent more than once.
          </>
        }
      >
        <CopyBlock text={BODY_TEMPLATE} />
      </Section>
      <Section
        title="4. Filter"
        description={
          <>
            Send only <code>feedback_submitted</code> events. Other events are ignored.
          </>
        }
      />
      <Section title="Try it">
        <CopyBlock text={feedbackCurl()} />
        <p className="quiet small">
          Each delivery is listed under{' '}
          <Link to="/incoming" search={{ receiver: 'feedback' }}>
            incoming deliveries
          </Link>
          .
        </p>
      </Section>
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
    <p role="status" className={styles.warning}>
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
