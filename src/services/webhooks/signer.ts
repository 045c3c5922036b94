import { type EncryptionKeys, seal, unsealAll } from '../../domain/token-seal.ts'
import { encryptionKeyMissing } from '../../errors/index.ts'
import type { NewWebhookRow, WebhookRow } from '../../repositories/webhooks/webhooks.ts'
import { type Reencrypt, reencryptedPrevious, validOf } from '../rotating-secrets.ts'

export type WebhookSigner = ReturnType<typeof webhookSigner>

type Signing = Pick<WebhookRow, 'id' | 'secret' | 'previousSecrets'>

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
      const { id, secret, previousSecrets: previous } = webhook
      return unsealAll(validOf({ secret, previous }, now), { keys, owner: ownerOf(id) }).texts
    },
  }
}

/** The secrets of a webhook, encrypted again. */
export function reencryptedWebhook(webhook: WebhookRow, reencrypt: Reencrypt): Partial<NewWebhookRow> {
  const { id, secret, previousSecrets } = webhook
  const owner = ownerOf(id)
  return {
    secret: secret && reencrypt(secret, { owner, name: 'secret' }),
    previousSecrets: reencryptedPrevious(previousSecrets, { reencrypt, owner, name: 'previous secret' }),
  }
}

/** A secret that is copied to another row cannot be decrypted. */
const ownerOf = (webhookId: string) => `outgoing-webhook:${webhookId}`
