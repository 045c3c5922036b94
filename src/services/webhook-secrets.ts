import type { Operations } from '../domain/operation.ts'
import { describeSecret } from '../domain/secret.ts'
import { tooManySecrets, webhookSecretNotFound } from '../errors/index.ts'
import type { Clock } from '../lib/clock.ts'
import { type BoundRepositories, everywhere, type Repositories } from '../repositories/index.ts'
import type { WebhookSecretRow } from '../repositories/webhook-secrets.ts'
import type { WebhookSecret, WebhookSecretWithValue } from '../schemas/webhook-secret.ts'
import type { AccessService, Caller } from './access.ts'
import { changeLog } from './activity/row.ts'

interface WebhookSecretsDeps {
  repos: Repositories
  access: Pick<AccessService, 'forget'>
  clock: Clock
  randomBytes(size: number): Buffer
}

export const webhookSecretOperations = {
  create: { scope: 'admin', isServiceWide: true, changesSecrets: true },
  list: { scope: 'admin', isServiceWide: true },
  rotate: { scope: 'admin', isServiceWide: true, changesSecrets: true },
  revoke: { scope: 'admin', isServiceWide: true, changesSecrets: true },
} satisfies Operations<ReturnType<typeof webhookSecretsService>>

/** The secrets that feedback senders authenticate with. At most two are valid at a time. */
export function webhookSecretsService({ repos, access, clock, randomBytes }: WebhookSecretsDeps) {
  const log = changeLog(clock)

  return {
    /** @throws too_many_secrets */
    async create(caller: Caller): Promise<WebhookSecretWithValue> {
      return repos.within(everywhere).transaction(async (repos) => {
        const now = clock.now()
        const live = await repos.webhookSecrets.listLiveForUpdate(now)
        if (live.length >= 2) throw tooManySecrets()
        return insert(repos, { caller, now, type: 'key.webhook_secret_created' })
      })
    },

    async list(): Promise<{ data: WebhookSecret[]; nextCursor: null }> {
      const rows = await repos.within(everywhere).webhookSecrets.listLive(clock.now())
      return { data: rows.map(toWebhookSecret), nextCursor: null }
    },

    /**
     * Creates a new secret; the one it replaces stays valid for the overlap.
     * @throws webhook_secret_not_found, too_many_secrets
     */
    async rotate(
      caller: Caller,
      { id, overlapSeconds }: { id: string; overlapSeconds: number },
    ): Promise<WebhookSecretWithValue> {
      const rotated = await repos.within(everywhere).transaction(async (repos) => {
        const now = clock.now()
        const live = await repos.webhookSecrets.listLiveForUpdate(now)
        const previous = live.find((row) => row.id === id)
        if (!previous) throw webhookSecretNotFound(id)
        if (live.length >= 2 && overlapSeconds > 0) throw tooManySecrets()
        const until = new Date(now.getTime() + overlapSeconds * 1000)
        const expiresAt = previous.expiresAt && previous.expiresAt < until ? previous.expiresAt : until
        await repos.webhookSecrets.update(id, { expiresAt })
        return insert(repos, { caller, now, type: 'key.webhook_secret_rotated' })
      })
      access.forget()
      return rotated
    },

    /** @throws webhook_secret_not_found */
    async revoke(caller: Caller, id: string): Promise<void> {
      await repos.within(everywhere).transaction(async (repos) => {
        const now = clock.now()
        const live = await repos.webhookSecrets.listLiveForUpdate(now)
        if (!live.some((row) => row.id === id)) throw webhookSecretNotFound(id)
        await repos.webhookSecrets.update(id, { revokedAt: now })
        const metadata = { webhookSecretId: id }
        await log(repos, { now, type: 'key.webhook_secret_revoked', caller, metadata })
      })
      access.forget()
    },
  }

  async function insert(
    repos: BoundRepositories,
    { caller, now, type }: { caller: Caller; now: Date; type: string },
  ) {
    const { row, text } = newWebhookSecret(clock, { now, randomBytes })
    await repos.webhookSecrets.insert(row)
    await log(repos, { now, type, caller, metadata: { webhookSecretId: row.id } })
    return { ...toWebhookSecret(row), secret: text }
  }
}

/** 256 random bits with the prefix `inlw_`. */
export function newWebhookSecret(
  clock: Clock,
  { now, randomBytes }: { now: Date; randomBytes: (size: number) => Buffer },
) {
  const { text, hash, lastFour } = describeSecret(`inlw_${randomBytes(32).toString('base64url')}`)
  const row: WebhookSecretRow = {
    id: clock.newId(now),
    hash,
    lastFour,
    createdAt: now,
    expiresAt: null,
    revokedAt: null,
    lastUsedAt: null,
  }
  return { row, text }
}

const toWebhookSecret = (row: WebhookSecretRow): WebhookSecret => ({
  id: row.id,
  lastFour: row.lastFour,
  createdAt: row.createdAt.toISOString(),
  expiresAt: row.expiresAt?.toISOString() ?? null,
  lastUsedAt: row.lastUsedAt?.toISOString() ?? null,
})
