import { connectionActivity } from '../domain/codehost/connection.ts'
import type { Clock } from '../lib/clock.ts'
import { everywhere, type Repositories } from '../repositories/index.ts'
import { activityRow, SERVICE } from './activity/row.ts'
import { adoptDatabase } from './activity/sequencer.ts'
import { readAll } from './page.ts'
import { about } from './webhooks/index.ts'

interface RestoredDeps {
  repos: Repositories
  clock: Clock
}

/** What a restore has turned off. */
interface SwitchedOff {
  /** Outgoing ones. */
  webhooks: number
  /** With write-back. */
  connections: number
  /** Ended. */
  sessions: number
  /** Withdrawn. */
  invites: number
}

/** Continues in a database if it is a dump that was restored: the other instance may still run. Returns whether it is. */
export async function adoptRestored({ repos, clock }: RestoredDeps): Promise<boolean> {
  if (!(await repos.changes.isForeign())) return false
  await afterRestore({ repos, clock })
  // Last, so that this is repeated if it did not complete.
  await adoptDatabase(repos.changes)
  return true
}

/**
 * The first start of a restored database: turns off what it sends to other systems, because the instance that was
 * backed up may still run, and because they may already have what this one does not know of. Ends all cursors of changes,
 * sessions and invites: some may have been ended after the backup.
 */
export async function afterRestore({ repos, clock }: RestoredDeps): Promise<SwitchedOff> {
  return repos.transaction(async (repos) => {
    const bound = repos.within(everywhere)
    const { codehost, codehostWrites, webhooks, activity, configurationChanges } = bound
    const now = clock.now()
    const message = 'Turned off because the database was restored from a backup.'
    const active = await webhooks.switchOffAll('restored')
    for (const webhook of active) {
      const { projectId } = webhook
      const metadata = { ...about(webhook), reason: 'restored' }
      const type = 'webhook.disabled'
      await activity.insert([activityRow(clock, { now, type, actor: SERVICE, projectId, message, metadata })])
    }
    const writingBack = await codehost.listWritingBack()
    for (const before of writingBack) {
      const { id, projectId } = before
      await codehostWrites.cancel(id)
      await codehost.update(id, { writeBack: 'off', updatedAt: now })
      const change = connectionActivity({ before, after: { ...before, writeBack: 'off' }, isReplaced: false })
      if (!change) continue
      await activity.insert([activityRow(clock, { now, ...change, actor: SERVICE, projectId, message })])
      await configurationChanges.announceProject(projectId)
    }
    await repos.changes.renewEpoch()
    const sessions = await bound.sessions.deleteAll()
    const invites = await bound.invites.deleteAll()
    await bound.signInAttempts.deleteAll()
    return { webhooks: active.length, connections: writingBack.length, sessions, invites }
  })
}

/** Who can still sign in to a restored database: some may have been deactivated or revoked after the backup. */
export async function listAccess({
  repos,
  clock,
}: RestoredDeps): Promise<{ people: string[]; keys: string[] }> {
  const { users, keys } = repos.within(everywhere)
  const people = await readAll(({ after, limit }) => users.list({ after, limit, isActive: true }))
  const now = clock.now()
  const live = await readAll(({ after, limit }) => keys.list({ after, limit, now }))
  return { people: people.map(({ username }) => username), keys: live.map(({ name }) => name) }
}
