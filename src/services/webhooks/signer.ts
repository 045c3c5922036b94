import { type EncryptionKeys, seal, unsealAll } from '../../domain/token-seal.ts'
import { encryptionKeyMissing } from '../../errors/index.ts'
import type { NewWebhookRow, WebhookRow } from '../../repositories/webhooks/webhooks.ts'
import type { Reencrypt } from '../encryption.ts'
import { isOverlapping } from '../sources/secrets.ts'

export type WebhookSigner = ReturnType<typeof webhookSigner>

type Signing = Pick<WebhookRow, 'id' | 'secret' | 'previousSecret' | 'previousSecretUntil'>

/** The secrets of outgoing webhooks, which are encrypted. */
export function webhookSigner({
  encryptionKeys: keys,
  randomBytes,
}: {
  /** Without them, no secret can be stored. */
  encryptionKeys: EncryptionKeys | undefined
  randomBytes(size: number): Buffer
}) {
  return {
    /**
     * A new secret to show, and what is stored of it.
     * @throws encryption_key_missing
     */
    newSecret(id: string): { text: string; stored: string } {
      if (!keys) throw encryptionKeyMissing()
      const text = `whsec_${randomBytes(32).toString('base64')}`
      return { text, stored: seal(text, { keys, owner: ownerOf(id), randomBytes }) }
    },

    /** The valid secrets of a webhook; one that cannot be decrypted is omitted. */
    secretsOf(webhook: Signing, now: Date): string[] {
      const { secret, previousSecret } = webhook
      const stored = [secret, ...(isOverlapping(webhook, now) ? [previousSecret] : [])]
      const sealed = stored.filter((text) => text !== null)
      return unsealAll(sealed, { keys, owner: ownerOf(webhook.id) }).texts
    },
  }
}

/** The secrets of a webhook, encrypted again. */
export function reencryptedWebhook(webhook: WebhookRow, reencrypt: Reencrypt): Partial<NewWebhookRow> {
  const { id, secret, previousSecret, previousSecretUntil: until } = webhook
  const owner = ownerOf(id)
  return {
    secret: secret && reencrypt(secret, { owner, name: 'secret' }),
    previousSecret: previousSecret && reencrypt(previousSecret, { owner, name: 'previous secret', until }),
  }
}

/** A secret that is copied to another row cannot be decrypted. */
const ownerOf = (webhookId: string) => `outgoing-webhook:${webhookId}`
