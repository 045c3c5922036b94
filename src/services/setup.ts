import { describeSecret, keySecret, type Secret } from '../domain/secret.ts'
import type { Clock } from '../lib/clock.ts'
import { type BoundRepositories, everywhere, type Repositories } from '../repositories/index.ts'
import { activityRow, SERVICE } from './activity/row.ts'
import { insertProject } from './projects.ts'
import { adoptRestored } from './restored.ts'
import { newWebhookSecret } from './webhook-secrets.ts'

export interface SetupOptions {
  repos: Repositories
  clock: Clock
  randomBytes(size: number): Buffer
  /** From the environment: a key that must be valid, in addition to stored ones. */
  bootstrapKey: string | undefined
  /** True if the environment has a webhook secret. */
  hasWebhookSecret: boolean
}

/** Secrets created on the first start; shown once. */
export interface FirstSecrets {
  adminKey?: string
  webhookSecret?: string
}

export interface SetUp extends FirstSecrets {
  /** Whether it turned off what a dump of another database, which was restored, would send to other systems. */
  isRestored: boolean
}

/**
 * Creates what every installation has: the default project with its list, an admin key and a webhook secret. Runs under
 * the start lock in one transaction, so instances that start at once create one of each. Before that, adopts a database
 * that was restored from another one.
 */
export async function setUp(options: SetupOptions): Promise<SetUp> {
  const { repos, clock, randomBytes, bootstrapKey, hasWebhookSecret } = options
  const isRestored = await adoptRestored({ repos, clock })
  const made = await repos.transaction(async (repos) => {
    const now = clock.now()
    const bound = repos.within(everywhere)
    const made: FirstSecrets = {}
    const isFirstStart = !(await bound.keys.hasAny())

    if (!(await bound.projects.findDefault())) {
      await insertProject(bound, { clock, now, name: 'Inbox', isDefault: true })
    }
    if (bootstrapKey) {
      const secret = describeSecret(bootstrapKey)
      // A revoked key is known, too: it stays revoked.
      const isKnown = await repos.credentials.keys.findBySecret(secret.hash)
      if (!isKnown) await insertAdminKey(bound, { clock, now, name: 'Bootstrap key', secret })
    } else if (isFirstStart) {
      const secret = keySecret(randomBytes)
      await insertAdminKey(bound, { clock, now, name: 'First admin key', secret })
      made.adminKey = secret.text
    }
    if (isFirstStart && !hasWebhookSecret) {
      const { row, text } = newWebhookSecret(clock, { now, randomBytes })
      await bound.webhookSecrets.insert(row)
      made.webhookSecret = text
    }
    return made
  })
  return { ...made, isRestored }
}

/** An admin key for an operator who has none. Returns its text. */
export async function createAdminKey({
  repos,
  clock,
  randomBytes,
  name,
}: Pick<SetupOptions, 'repos' | 'clock' | 'randomBytes'> & { name: string }): Promise<string> {
  return repos.transaction(async (repos) => {
    const bound = repos.within(everywhere)
    const now = clock.now()
    const secret = keySecret(randomBytes)
    const keyId = await insertAdminKey(bound, { clock, now, name, secret })
    const metadata = { keyId, keyName: name, scopes: ['admin'] }
    await bound.activity.insert([activityRow(clock, { now, type: 'key.created', actor: SERVICE, metadata })])
    return secret.text
  })
}

interface NewAdminKey {
  clock: Clock
  now: Date
  name: string
  secret: Secret
}

async function insertAdminKey(
  repos: BoundRepositories,
  { clock, now, name, secret }: NewAdminKey,
): Promise<string> {
  const { hash, prefix, lastFour } = secret
  const id = clock.newId(now)
  await repos.keys.insert(
    {
      id,
      name,
      userId: null,
      scopes: ['admin'],
      projectId: null,
      expiresAt: null,
      revokedAt: null,
      lastUsedAt: null,
      createdAt: now,
      createdByType: SERVICE.type,
      createdById: SERVICE.id,
      createdByName: SERVICE.name,
    },
    { hash, keyId: id, prefix, lastFour, expiresAt: null, createdAt: now },
  )
  return id
}
