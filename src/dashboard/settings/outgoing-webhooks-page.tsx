import { Button, Menu } from '@mantine/core'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, dataOf } from '../api/client.ts'
import { itemsOf, projectsQuery } from '../api/queries.ts'
import { serverNow } from '../api/server-clock.ts'
import { statusQuery } from '../api/status-query.ts'
import { ConfirmDialog } from '../components/confirm-dialog.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { RelativeTime } from '../components/relative-time.tsx'
import { SecretDialog } from '../components/secret-dialog.tsx'
import { toast } from '../components/toast.ts'
import { useMutation } from '../components/use-mutation.ts'
import { isolate } from '../lib/isolate.ts'
import { useOpened } from '../navigation/use-opened.ts'
import { FailingBadge } from '../overview/failing-badge.tsx'
import { ItemControls } from './item-controls.tsx'
import { OutgoingDeliveries, WITHIN_DELIVERIES } from './outgoing-deliveries.tsx'
import { OutgoingDialog } from './outgoing-dialog.tsx'
import { outgoingWebhooksQuery, type Webhook, type WebhookWithSecret } from './outgoing-queries.ts'
import { attemptText, disabledText } from './outgoing-text.ts'
import { PageHeader } from './page-header.tsx'
import { Row, Rows } from './rows.tsx'
import { useWebhookSwitch } from './use-webhook-switch.ts'

/** Outgoing webhooks: URLs that changes are sent to. */
export default function OutgoingWebhooksPage() {
  const query = useInfiniteQuery({ ...outgoingWebhooksQuery, refetchInterval: 15_000 })
  const editor = useOpened('edit')
  const inbox = useOpened('deliveries', WITHIN_DELIVERIES)
  const [withSecret, setWithSecret] = useState<WebhookWithSecret>()
  const webhooks = itemsOf(query.data)
  const edited = webhooks.find(({ id }) => id === editor.opened)
  const withInbox = webhooks.find(({ id }) => id === inbox.opened)
  const isEmpty = query.isSuccess && webhooks.length === 0
  const add = <Button onClick={() => editor.open('new')}>Add a webhook</Button>
  if (withInbox) {
    return <OutgoingDeliveries webhook={withInbox} onClose={inbox.close} />
  }
  return (
    <>
      <PageHeader title="Outgoing webhooks" action={!isEmpty && add}>
        Inlet posts changes to these URLs when they happen. Each delivery is signed, so that the receiver can
        verify it.
      </PageHeader>
      <Rows
        label="webhooks"
        query={query}
        queryKey={outgoingWebhooksQuery.queryKey}
        empty={
          <EmptyState
            title="No webhooks yet"
            description="Add the URL of a chat, an automation tool, or your own service. It gets a signed request for each new task and each change."
            action={add}
          />
        }
      >
        {webhooks.map((webhook) => (
          <WebhookItem
            key={webhook.id}
            webhook={webhook}
            onEdit={() => editor.open(webhook.id)}
            onSecret={setWithSecret}
          />
        ))}
      </Rows>
      {(edited || editor.opened === 'new') && (
        <OutgoingDialog
          key={editor.opened}
          webhook={edited}
          onClose={editor.close}
          onCreated={setWithSecret}
        />
      )}
      {withSecret && (
        <SecretDialog
          title={`Secret of “${isolate(withSecret.name)}”`}
          secret={withSecret.secret}
          onStored={() => setWithSecret(undefined)}
        >
          <p style={{ margin: 0 }}>
            The receiver verifies the header <code>webhook-signature</code> with it, as Standard Webhooks
            says.
          </p>
        </SecretDialog>
      )}
    </>
  )
}

interface WebhookItemProps {
  webhook: Webhook
  onEdit(): void
  onSecret(webhook: WebhookWithSecret): void
}

function WebhookItem({ webhook, onEdit, onSecret }: WebhookItemProps) {
  const { data: projects } = useQuery(projectsQuery)
  const { mutate, refresh, isBusy: isMutating } = useMutation('outgoing-webhooks', 'status')
  const { toggle, isBusy: isSwitching } = useWebhookSwitch(webhook)
  const isBusy = isMutating || isSwitching
  const [dialog, setDialog] = useState<'rotate' | 'delete'>()
  const close = () => setDialog(undefined)
  const { id, name, url, types, isActive, nextAttemptAt } = webhook
  const params = { path: { id } }
  const project = projects?.find((project) => project.id === webhook.projectId)
  const why = disabledText(webhook)
  const { data: status } = useQuery(statusQuery({ kind: ['webhook'] }))
  const failure = status?.data.find((pipe) => pipe.id === id)?.lastError

  async function retryAll() {
    const retried = await mutate("Couldn't retry the deliveries", () =>
      dataOf(api.POST('/api/webhooks/{id}/retry', { params })),
    )
    if (retried) toast.info('Deliveries are being sent again, oldest first')
  }

  async function test() {
    const delivery = await mutate("Couldn't send a test", () =>
      dataOf(api.POST('/api/webhooks/{id}/test', { params })),
    )
    if (!delivery) return
    const text = attemptText(delivery) ?? ''
    if (delivery.outcome === 'delivered') toast.info(`Test delivered: ${text}`)
    else toast.error('The test failed', text)
  }

  return (
    <>
      <Row
        name={name}
        isOff={!isActive}
        beside={nextAttemptAt && <FailingBadge />}
        details={[project?.name, types.length === 0 ? 'All types' : types.join(', ')]
          .filter(Boolean)
          .join(' · ')}
        actions={
          <ItemControls
            name={name}
            isActive={isActive}
            isBusy={isBusy}
            onToggle={() => void toggle()}
            deliveries={{ to: '/settings/outgoing', search: { deliveries: id } }}
            onEdit={onEdit}
            actions={<Menu.Item onClick={() => void test()}>Send a test</Menu.Item>}
            onRotate={() => setDialog('rotate')}
            onDelete={() => setDialog('delete')}
          />
        }
      >
        <code className="quiet">{url}</code>
        {nextAttemptAt && (
          <div className="small">
            {failure?.detail ?? 'The last attempt failed.'} The next attempt is{' '}
            {Date.parse(nextAttemptAt) <= serverNow() ? 'due now' : <RelativeTime dateTime={nextAttemptAt} />}
            .
            <div>
              <Button variant="default" mt={6} loading={isBusy} onClick={() => void retryAll()}>
                Retry all
              </Button>
            </div>
          </div>
        )}
        {why && <div className="small">{why}</div>}
      </Row>
      {dialog === 'rotate' && (
        <ConfirmDialog
          title={`Rotate the secret of “${isolate(name)}”?`}
          verb="Rotate secret"
          onClose={close}
          onConfirm={async () => {
            onSecret(await dataOf(api.POST('/api/webhooks/{id}/rotate', { params, body: {} })))
            await refresh()
          }}
        >
          For one day, deliveries are signed with both secrets. Store the new one at the receiver in that
          time.
        </ConfirmDialog>
      )}
      {dialog === 'delete' && (
        <ConfirmDialog
          title={`Delete “${isolate(name)}”?`}
          verb="Delete webhook"
          onClose={close}
          onConfirm={async () => {
            await dataOf(api.DELETE('/api/webhooks/{id}', { params }))
            await refresh()
          }}
        >
          Nothing more is sent, and its deliveries are deleted, also those that wait. This can't be undone.
        </ConfirmDialog>
      )}
    </>
  )
}
