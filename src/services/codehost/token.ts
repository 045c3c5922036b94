import type { CodeHost, HostAccess } from '../../clients/codehost.ts'
import { type EncryptionKeys, seal, type Unsealed, unseal, unsealAll } from '../../domain/token-seal.ts'
import { codehostRefused, encryptionKeyGone, encryptionKeyMissing } from '../../errors/index.ts'
import type { ConnectionRow } from '../../repositories/codehost/connections.ts'
import { type Reencrypt, reencryptedPrevious, validOf } from '../rotating-secrets.ts'

/** The code host and the operator's settings for it. */
export interface CodehostDeps {
  host: CodeHost
  /** The API URLs that may be requested; the first is the default. */
  apiUrls: readonly string[]
  /** For connections without a token of their own, at the default address only. */
  token: string | undefined
  /** Without them, no tokens can be stored. */
  encryptionKeys: EncryptionKeys | undefined
}

interface VaultDeps extends Omit<CodehostDeps, 'host'> {
  randomBytes(size: number): Buffer
}

export type TokenVault = ReturnType<typeof tokenVault>

type WebhookSecrets = Pick<ConnectionRow, 'id' | 'webhookSecret' | 'previousWebhookSecrets'>

/** A token, a GitHub App, or neither. */
export type Credentials = Pick<HostAccess, 'token' | 'app'>

/** The same, encrypted. */
export type StoredCredentials = Pick<ConnectionRow, 'token' | 'app'>

const appOwner = (connectionId: string) => `app:${connectionId}`

/** Not the owner of the token: one of the two copied to the other's column cannot be decrypted. */
const secretOwner = (connectionId: string) => `webhook:${connectionId}`

/** Encrypts the tokens, App keys, and webhook secrets of connections, and selects what a connection uses. */
export function tokenVault({ apiUrls, token, encryptionKeys: keys, randomBytes }: VaultDeps) {
  return {
    /**
     * Encrypts what was given for a connection.
     * @throws encryption_key_missing
     */
    seal({ token, app }: Credentials, id: string): StoredCredentials {
      if (!keys) throw encryptionKeyMissing()
      const sealed = (text: string, owner: string) => seal(text, { keys, owner, randomBytes })
      return {
        token: token === null ? null : sealed(token, id),
        app: app ? { ...app, privateKey: sealed(app.privateKey, appOwner(id)) } : null,
      }
    },

    /**
     * Decrypts what is stored for a connection. Failing is an error: continuing without it would lose it.
     * @throws encryption_key_missing, codehost_token_rejected
     */
    open(stored: StoredCredentials & { id: string }): Credentials {
      if (!keys) throw encryptionKeyGone()
      const opened = openWith(keys, stored)
      if (!opened) throw codehostRefused('codehost_token_rejected', UNREADABLE)
      return opened
    },

    /** A new webhook secret; undefined without an encryption key, because then none can be stored. */
    newWebhookSecret(connectionId: string): { text: string; sealed: string } | undefined {
      if (!keys) return undefined
      const text = `inlw_${randomBytes(32).toString('base64url')}`
      return { text, sealed: seal(text, { keys, owner: secretOwner(connectionId), randomBytes }) }
    },

    /** The valid webhook secrets of a connection. */
    webhookSecretsOf(connection: WebhookSecrets, now: Date): Unsealed {
      const { id, webhookSecret: secret, previousWebhookSecrets: previous } = connection
      return unsealAll(validOf({ secret, previous }, now), { keys, owner: secretOwner(id) })
    },

    /** The operator's token; only ever sent to the default host. */
    sharedToken: (apiUrl: string) => (apiUrl === apiUrls[0] ? (token ?? null) : null),

    /** The URL and credentials to use for a connection, or the error that prevents it. */
    accessOf(
      connection: Pick<ConnectionRow, 'id' | 'apiUrl' | 'token' | 'app'>,
    ): HostAccess | { code: string; message: string } {
      const { apiUrl } = connection
      if (!apiUrls.includes(apiUrl)) {
        const message = `${apiUrl} is no longer in CODEHOST_API_URLS. Connect the repository again at an allowed URL.`
        return { code: 'codehost_url_not_allowed', message }
      }
      if (!isStored(connection)) return { apiUrl, token: this.sharedToken(apiUrl) }
      const own = keys && openWith(keys, connection)
      return own ? { apiUrl, ...own } : { code: 'codehost_token_unreadable', message: UNREADABLE }
    },
  }
}

/** What is encrypted of a connection, encrypted again. */
export function reencryptedConnection(
  connection: ConnectionRow,
  reencrypt: Reencrypt,
): Partial<ConnectionRow> {
  const { id, token, app, webhookSecret, previousWebhookSecrets } = connection
  const owner = secretOwner(id)
  return {
    token: token && reencrypt(token, { owner: id, name: 'token' }),
    app: app && {
      ...app,
      privateKey: reencrypt(app.privateKey, {
        owner: appOwner(id),
        name: 'private key of the GitHub App',
      }),
    },
    webhookSecret: webhookSecret && reencrypt(webhookSecret, { owner, name: 'webhook secret' }),
    previousWebhookSecrets: reencryptedPrevious(previousWebhookSecrets, {
      reencrypt,
      owner,
      name: 'previous webhook secret',
    }),
  }
}

/** Whether a connection has a token or a GitHub App of its own. */
export const isStored = ({ token, app }: StoredCredentials) => token !== null || app !== null

/** Whether the stored token and key are the same: encrypted again, they differ. */
export const isSameSecret = (one: StoredCredentials | undefined, other: StoredCredentials | undefined) =>
  (one?.token ?? null) === (other?.token ?? null) &&
  (one?.app?.privateKey ?? null) === (other?.app?.privateKey ?? null)

function openWith(
  keys: EncryptionKeys,
  { id, token, app }: StoredCredentials & { id: string },
): Credentials | undefined {
  if (app) {
    const privateKey = unseal(app.privateKey, { keys, owner: appOwner(id) })
    return privateKey === undefined ? undefined : { token: null, app: { ...app, privateKey } }
  }
  const text = token === null ? undefined : unseal(token, { keys, owner: id })
  return text === undefined ? undefined : { token: text }
}

const UNREADABLE =
  'The stored token or private key cannot be decrypted: ENCRYPTION_KEY has changed. Set it or ENCRYPTION_KEY_PREVIOUS to the key from before, or connect the repository again with a token or a GitHub App.'
