import { and, asc, eq, gt, isNull, or } from '../db/drizzle.ts'
import { webhookSecrets } from '../db/tables/access.ts'
import { announceAccessChange } from './access-changes.ts'
import type { Executor } from './index.ts'
import { writeLastUsed } from './last-used.ts'

export type WebhookSecretRow = typeof webhookSecrets.$inferSelect

export function webhookSecretsRepository(db: Executor) {
  const isLive = (now: Date) =>
    and(
      isNull(webhookSecrets.revokedAt),
      or(isNull(webhookSecrets.expiresAt), gt(webhookSecrets.expiresAt, now)),
    )

  return {
    async insert(row: WebhookSecretRow): Promise<void> {
      await db.insert(webhookSecrets).values(row)
      await announceAccessChange(db)
    },

    /** Valid secrets, oldest first. At most two, so there are no pages. */
    async listLive(now: Date): Promise<WebhookSecretRow[]> {
      return db.select().from(webhookSecrets).where(isLive(now)).orderBy(asc(webhookSecrets.id))
    },

    /** The same, locked until the transaction ends, new ones included: the table itself is the lock. */
    async listLiveForUpdate(now: Date): Promise<WebhookSecretRow[]> {
      await db.execute('lock table webhook_secrets in share row exclusive mode')
      return this.listLive(now)
    },

    async findByHash(hash: string): Promise<WebhookSecretRow | undefined> {
      const [row] = await db.select().from(webhookSecrets).where(eq(webhookSecrets.hash, hash))
      return row
    },

    async update(id: string, change: Partial<WebhookSecretRow>): Promise<void> {
      await db.update(webhookSecrets).set(change).where(eq(webhookSecrets.id, id))
      await announceAccessChange(db)
    },

    touch: (used: Map<string, Date>) =>
      writeLastUsed(db, { table: webhookSecrets, column: 'lastUsedAt', used }),
  }
}
