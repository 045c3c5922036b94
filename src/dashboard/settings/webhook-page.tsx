import { Button, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { answerOf, api, type Schema } from '../api/client.ts'
import { webhookSecretsQuery } from '../api/queries.ts'
import { useAct } from '../parts/act.ts'
import { Confirm } from '../parts/confirm.tsx'
import { CopyBlock } from '../parts/copy-block.tsx'
import { Moment } from '../parts/moment.tsx'
import { NotLoaded } from '../parts/not-loaded.tsx'
import { SecretDialog } from '../parts/secret-dialog.tsx'
import { PageHead } from './page-head.tsx'
import styles from './settings.module.css'

type Secret = Schema<'WebhookSecret'>
const MOST_SECRETS = 2

/** Where feedback is sent, and what its sender proves itself with. */
export function WebhookPage() {
  const query = useQuery(webhookSecretsQuery)
  const { act, isBusy } = useAct('webhook-secrets')
  const [secret, setSecret] = useState<string>()
  const [revoking, setRevoking] = useState<Secret>()
  const address = `${location.origin}/api/analytics/webhook`

  async function make() {
    const made = await act('No secret was made', () =>
      answerOf(api.POST('/api/webhook-secrets', { body: {} })),
    )
    if (made) setSecret(made.secret)
  }
  async function rotate(id: string) {
    const made = await act('The secret was not rotated', () =>
      answerOf(api.POST('/api/webhook-secrets/{id}/rotate', { params: { path: { id } }, body: {} })),
    )
    if (made) setSecret(made.secret)
  }

  const secrets = query.data ?? []
  return (
    <div className={styles.content}>
      <PageHead
        title="Feedback webhook"
        action={
          <Button onClick={() => void make()} loading={isBusy} disabled={secrets.length >= MOST_SECRETS}>
            Create secret
          </Button>
        }
      >
        The analytics platform sends each <code>feedback_submitted</code> event here, and each becomes a task
        in the list “User Feedback”. <Link to="/settings/routing">Routing</Link> decides in which project.
      </PageHead>
      <section className={styles.section}>
        <h2>1. The address</h2>
        <CopyBlock text={address} />
      </section>
      <section className={styles.section}>
        <h2>2. The header, with a secret in place of the dots</h2>
        <CopyBlock text="Authorization: Bearer …" />
        {query.isPending && <Skeleton height={60} />}
        {query.isError && <NotLoaded what="The secrets" query={query} />}
        {query.data?.length === 0 && (
          <p className="quiet small">
            No secret is kept here. One that is set as <code>WEBHOOK_SECRET</code> works beside these.
          </p>
        )}
        {secrets.length > 0 && (
          <ul className={styles.rows}>
            {secrets.map((one) => (
              <li key={one.id} className={styles.item}>
                <div className={styles.main}>
                  <code>…{one.lastFour}</code>
                  <div className="quiet small">
                    Made <Moment at={one.createdAt} /> ·{' '}
                    {one.lastUsedAt ? (
                      <>
                        used <Moment at={one.lastUsedAt} />
                      </>
                    ) : (
                      'never used'
                    )}
                    {one.expiresAt && (
                      <>
                        {' '}
                        · ends <Moment at={one.expiresAt} />
                      </>
                    )}
                  </div>
                </div>
                {one.expiresAt === null && (
                  <Button
                    variant="default"
                    disabled={secrets.length >= MOST_SECRETS}
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
          The platform’s default body works as it is. This is the flat form:
        </p>
        <CopyBlock text={BODY_TEMPLATE} />
      </section>
      <section className={styles.section}>
        <h2>Try it</h2>
        <CopyBlock text={curlFor(address)} />
        <p className="quiet small">
          What came in, and what became of it, stands in the <Link to="/settings/events">event inbox</Link>.
        </p>
      </section>
      {secret && (
        <SecretDialog
          title="The webhook secret"
          secret={secret}
          example={curlFor(address).replace('$WEBHOOK_SECRET', secret)}
          onStored={() => setSecret(undefined)}
        />
      )}
      {revoking && (
        <Confirm
          title={`Revoke the secret …${revoking.lastFour}?`}
          verb="Revoke secret"
          onClose={() => setRevoking(undefined)}
          onConfirm={async () => {
            await answerOf(api.DELETE('/api/webhook-secrets/{id}', { params: { path: { id: revoking.id } } }))
            await act('', async () => undefined)
          }}
        >
          Events that come with it are refused from now on. This cannot be taken back.
        </Confirm>
      )}
    </div>
  )
}

const BODY_TEMPLATE = `{
  "event": "{event.event}",
  "distinct_id": "{event.distinct_id}",
  "timestamp": "{event.timestamp}",
  "properties": "{event.properties}"
}`

const curlFor = (address: string) => `curl -s ${address} \\
  -H "Authorization: Bearer $WEBHOOK_SECRET" \\
  -H 'Content-Type: application/json' \\
  -d '${JSON.stringify({
    event: 'feedback_submitted',
    distinct_id: 'user-1',
    timestamp: '2026-01-31T12:00:00.000Z',
    properties: { sentiment: 'loved', trigger: 'manual', app_version: '1.0.0', note: 'Hello, Inlet' },
  })}'`
