import { seal, unseal } from '../../domain/token-seal.ts'
import { encryptionKeyMissing } from '../../errors/index.ts'
import type { WebhookRow } from '../../repositories/webhooks/webhooks.ts'
import { isOverlapping } from '../sources/secrets.ts'

export type WebhookSigner = ReturnType<typeof webhookSigner>

type Signing = Pick<WebhookRow, 'id' | 'secret' | 'previousSecret' | 'previousSecretUntil'>

/** The secrets of outgoing webhooks, which are encrypted. */
export function webhookSigner({
  encryptionKey: key,
  randomBytes,
}: {
  /** 32 bytes; without it, no secret can be stored. */
  encryptionKey: Buffer | undefined
  randomBytes(size: number): Buffer
}) {
  return {
    /**
     * A new secret to show, and what is stored of it.
     * @throws encryption_key_missing
     */
    newSecret(id: string): { text: string; stored: string } {
      if (!key) throw encryptionKeyMissing()
      const text = `whsec_${randomBytes(32).toString('base64')}`
      return { text, stored: seal(text, { key, owner: ownerOf(id), randomBytes }) }
    },

    /** The valid secrets of a webhook; one that cannot be decrypted is omitted. */
    secretsOf(webhook: Signing, now: Date): string[] {
      const { secret, previousSecret } = webhook
      const stored = [secret, ...(isOverlapping(webhook, now) ? [previousSecret] : [])]
      return stored.flatMap(
        (sealed) => (key && sealed && unseal(sealed, { key, owner: ownerOf(webhook.id) })) || [],
      )
    },
  }
}

/** A secret that is copied to another row cannot be decrypted. */
const ownerOf = (webhookId: string) => `outgoing-webhook:${webhookId}`
