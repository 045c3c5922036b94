import { api, dataOf } from '../api/client.ts'
import { useMutation } from '../components/use-mutation.ts'
import type { Webhook } from './outgoing-queries.ts'

/** Turns a webhook on or off. */
export function useWebhookSwitch({ id, isActive }: Pick<Webhook, 'id' | 'isActive'>) {
  const { mutate, isBusy } = useMutation('outgoing-webhooks', 'status')
  const toggle = () =>
    mutate("Couldn't change the webhook", () =>
      dataOf(api.PATCH('/api/webhooks/{id}', { params: { path: { id } }, body: { isActive: !isActive } })),
    )
  return { toggle, isBusy }
}
