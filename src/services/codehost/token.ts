import type { CodeHost, HostAccess } from '../../clients/codehost.ts'
import { seal, unseal } from '../../domain/token-seal.ts'
import { codehostRefused, encryptionKeyGone, encryptionKeyMissing } from '../../errors/index.ts'
import type { ConnectionRow } from '../../repositories/codehost/connections.ts'

/** The code host and the operator's settings for it. */
export interface CodehostDeps {
  host: CodeHost
  /** The API URLs that may be requested; the first is the default. */
  apiUrls: readonly string[]
  /** For connections without a token of their own, at the default address only. */
  token: string | undefined
  /** 32 bytes; without it, no tokens can be stored. */
  encryptionKey: Buffer | undefined
}

interface VaultDeps extends Omit<CodehostDeps, 'host'> {
  randomBytes(size: number): Buffer
}

export type TokenVault = ReturnType<typeof tokenVault>

type WebhookSecrets = Pick<
  ConnectionRow,
  'id' | 'webhookSecret' | 'previousWebhookSecret' | 'previousWebhookSecretUntil'
>

/** Not the owner of the token: one of the two copied to the other's column cannot be decrypted. */
const secretOwner = (connectionId: string) => `webhook:${connectionId}`

/** Encrypts the stored tokens and webhook secrets of connections, and selects the token for a connection. */
export function tokenVault({ apiUrls, token, encryptionKey: key, randomBytes }: VaultDeps) {
  return {
    /**
     * @param owner the connection's id; decryption requires the same.
     * @throws encryption_key_missing
     */
    seal(text: string, owner: string): string {
      if (!key) throw encryptionKeyMissing()
      return seal(text, { key, owner, randomBytes })
    },

    /**
     * Decrypts the stored token of a connection. Failing is an error: continuing without the token would lose it.
     * @throws encryption_key_missing, codehost_token_rejected
     */
    open({ id, token }: { id: string; token: string }): string {
      if (!key) throw encryptionKeyGone()
      const text = unseal(token, { key, owner: id })
      if (text === undefined) throw codehostRefused('codehost_token_rejected', UNREADABLE)
      return text
    },

    /** A new webhook secret; undefined without an encryption key, because then none can be stored. */
    newWebhookSecret(connectionId: string): { text: string; sealed: string } | undefined {
      if (!key) return undefined
      const text = `inlw_${randomBytes(32).toString('base64url')}`
      return { text, sealed: seal(text, { key, owner: secretOwner(connectionId), randomBytes }) }
    },

    /** The valid webhook secrets of a connection; one that cannot be decrypted is omitted. */
    webhookSecretsOf(connection: WebhookSecrets, now: Date): string[] {
      const { id, webhookSecret, previousWebhookSecret, previousWebhookSecretUntil: until } = connection
      const isOverlapping = until !== null && until > now
      return [webhookSecret, isOverlapping ? previousWebhookSecret : null].flatMap((sealed) => {
        const text = sealed !== null && key ? unseal(sealed, { key, owner: secretOwner(id) }) : undefined
        return text ?? []
      })
    },

    /** The operator's token; only ever sent to the default host. */
    sharedToken: (apiUrl: string) => (apiUrl === apiUrls[0] ? (token ?? null) : null),

    /** The URL and token to use for a connection, or the error that prevents it. */
    accessOf(
      connection: Pick<ConnectionRow, 'id' | 'apiUrl' | 'token'>,
    ): HostAccess | { code: string; message: string } {
      const { id, apiUrl } = connection
      if (!apiUrls.includes(apiUrl)) {
        const message = `${apiUrl} is no longer in CODEHOST_API_URLS. Connect the repository again at an allowed URL.`
        return { code: 'codehost_url_not_allowed', message }
      }
      if (connection.token === null) return { apiUrl, token: this.sharedToken(apiUrl) }
      const own = key && unseal(connection.token, { key, owner: id })
      if (own !== undefined) return { apiUrl, token: own }
      return { code: 'codehost_token_unreadable', message: UNREADABLE }
    },
  }
}

const UNREADABLE =
  'The stored token cannot be decrypted: ENCRYPTION_KEY has changed. Restore it, or connect the repository again with a token.'
