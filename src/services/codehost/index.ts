import { setTimeout as wait } from 'node:timers/promises'
import { emptyTally } from '../../domain/codehost/tally.ts'
import { orderById } from '../../domain/cursor.ts'
import type { Operations } from '../../domain/operation.ts'
import {
  connectionNotFound,
  encryptionKeyMissing,
  projectNotFound,
  repositoryNotConnected,
  syncInProgress,
  syncRunNotFound,
  tooManyReplacedSecrets,
} from '../../errors/index.ts'
import type { ConnectionRow } from '../../repositories/codehost/connections.ts'
import type { SyncRunRow } from '../../repositories/codehost/sync-runs.ts'
import type { SyncRun } from '../../schemas/sync-run.ts'
import type { Caller } from '../access.ts'
import { changeLog } from '../activity/row.ts'
import { readPage } from '../page.ts'
import { liveOf, replacedBy } from '../rotating-secrets.ts'
import { writableProject } from '../writable-project.ts'
import { type ConnectDeps, connectionOf, repositoryConnector } from './connect.ts'
import { endRun } from './run-end.ts'
import { DISCONNECTED } from './run-errors.ts'
import { type ConnectionView, toSyncRun } from './run-view.ts'

/** How often the row of an awaited run is read. */
const POLL_MS = 150

/** How long a replaced webhook secret stays valid: time to paste the new one at the code host. */
const OVERLAP_SECONDS = 86_400
const MAX_PREVIOUS_SECRETS = 10

const ENDED: SyncRun['status'][] = ['completed', 'failed', 'rate_limited']

export const codehostOperations = {
  connect: { scope: 'admin', changesSecrets: true },
  get: { scope: 'tasks:read' },
  disconnect: { scope: 'admin', changesSecrets: true },
  renewWebhookSecret: { scope: 'admin', changesSecrets: true },
  sync: { scope: 'codehost:sync' },
  listRuns: { scope: 'tasks:read' },
  getRun: { scope: 'tasks:read' },
} satisfies Operations<ReturnType<typeof codehostService>>

/** The repository that a project syncs with, and its sync runs. */
export function codehostService(deps: ConnectDeps) {
  const { repos, clock, vault } = deps
  const log = changeLog(clock)
  return {
    /** Connects a repository or changes the connection, after checking that it can be read. Does not start a run. */
    connect: repositoryConnector(deps),

    /** @throws project_not_found, connection_not_found */
    async get(caller: Caller, projectId: string): Promise<ConnectionView> {
      const bound = repos.within(caller)
      if (!(await bound.projects.find(projectId))) throw projectNotFound(projectId)
      return connectionOf(bound, projectId)
    },

    /**
     * Disconnects the repository. The tasks are kept; an active run ends.
     * @throws project_not_found, project_archived, connection_not_found
     */
    async disconnect(caller: Caller, projectId: string): Promise<void> {
      await repos.within(caller).transaction(async (repos) => {
        await writableProject(repos, { id: projectId, lock: 'update' })
        const connection = await repos.codehost.findForUpdate(projectId)
        if (!connection) throw connectionNotFound()
        const run = await repos.syncRuns.findActiveForUpdate(projectId)
        if (run) await endRun(repos, { clock, run, error: DISCONNECTED })
        const unwritten = await repos.codehostWrites.cancel(connection.id)
        await repos.codehost.delete(projectId)
        const { id: connectionId, repository, apiUrl } = connection
        const about = {
          projectId,
          metadata: { connectionId, repository, apiUrl, ...(unwritten > 0 && { unwritten }) },
        }
        await log(repos, { now: clock.now(), type: 'connection.deleted', caller, ...about })
        await repos.configurationChanges.announceProject(projectId)
      })
    },

    /**
     * Creates a webhook secret. The one it replaces stays valid for a day, as those before it do.
     * @throws project_not_found, project_archived, connection_not_found, too_many_secrets, encryption_key_missing
     */
    async renewWebhookSecret(
      caller: Caller,
      projectId: string,
    ): Promise<{ connectionId: string; secret: string; previousExpiresAt: string | null }> {
      return repos.within(caller).transaction(async (repos) => {
        await writableProject(repos, { id: projectId, lock: 'update' })
        const connection = await repos.codehost.findForUpdate(projectId)
        if (!connection) throw connectionNotFound()
        const secret = vault.newWebhookSecret(connection.id)
        if (!secret) throw encryptionKeyMissing()
        const now = clock.now()
        const { id: connectionId, repository, apiUrl, webhookSecret } = connection
        const earlier = liveOf(connection.previousWebhookSecrets, now)
        // The oldest one may be the one in use.
        if (earlier.length >= MAX_PREVIOUS_SECRETS) throw tooManyReplacedSecrets(earlier.at(-1)?.until ?? '')
        const replaced = replacedBy(
          { secret: webhookSecret, previous: earlier },
          { now, overlapSeconds: OVERLAP_SECONDS },
        )
        await repos.codehost.update(connectionId, {
          webhookSecret: secret.sealed,
          previousWebhookSecrets: replaced,
        })
        const about = { projectId, metadata: { connectionId, repository, apiUrl } }
        await log(repos, { now, type: 'connection.webhook_secret_created', caller, ...about })
        await repos.configurationChanges.announceProject(projectId)
        return {
          connectionId,
          secret: secret.text,
          previousExpiresAt: webhookSecret === null ? null : (replaced[0]?.until ?? null),
        }
      })
    },

    /**
     * Queues a run. The caller wakes the worker after the commit.
     * @throws project_not_found, project_archived, repository_not_connected, sync_in_progress
     */
    async sync(
      caller: Caller,
      { projectId, mode }: { projectId: string; mode: SyncRun['mode'] },
    ): Promise<SyncRun> {
      return repos.within(caller).transaction(async (repos) => {
        await writableProject(repos, { id: projectId, lock: 'update' })
        const connection = await repos.codehost.find(projectId)
        if (!connection) throw repositoryNotConnected()
        const now = clock.now()
        const row = newRun({ id: clock.newId(now), now, connection, mode })
        // The active run may end before it is read.
        for (;;) {
          if (await repos.syncRuns.insert(row)) return toSyncRun(row)
          const active = await repos.syncRuns.findActive(projectId)
          if (active) throw syncInProgress(active.id, active.retryAt?.toISOString() ?? null)
        }
      })
    },

    /**
     * Newest first.
     * @throws project_not_found
     */
    async listRuns(
      caller: Caller,
      { projectId, query }: { projectId: string; query: { limit?: number; cursor?: string } },
    ) {
      const bound = repos.within(caller)
      if (!(await bound.projects.find(projectId))) throw projectNotFound(projectId)
      return readPage({
        order: orderById('syncs'),
        request: query,
        read: async (before, limit) =>
          (await bound.syncRuns.list(projectId, { before, limit })).map(toSyncRun),
      })
    },

    getRun,

    /**
     * Waits until the run has ended or is rate limited, at most until the timeout. Never throws, because the run was
     * started: if it can no longer be read, returns what was read last.
     */
    async awaitRun(
      caller: Caller,
      { started, timeoutMs, signal }: { started: SyncRun; timeoutMs: number; signal: AbortSignal },
    ): Promise<{ run: SyncRun; isOver: boolean }> {
      const deadline = performance.now() + timeoutMs
      for (let run = started; ; ) {
        const seen = await getRun(caller, { projectId: started.projectId, runId: started.id }).catch(
          () => undefined,
        )
        run = seen ?? run
        const isOver = ENDED.includes(run.status)
        if (!seen || isOver || signal.aborted || performance.now() >= deadline) return { run, isOver }
        await wait(POLL_MS, undefined, { signal }).catch(() => {})
      }
    },
  }

  async function getRun(
    caller: Caller,
    { projectId, runId }: { projectId: string; runId: string },
  ): Promise<SyncRun> {
    const bound = repos.within(caller)
    if (!(await bound.projects.find(projectId))) throw projectNotFound(projectId)
    const run = await bound.syncRuns.find(projectId, runId)
    if (!run) throw syncRunNotFound(runId)
    return toSyncRun(run)
  }
}

interface RequestedRun {
  id: string
  now: Date
  connection: Pick<ConnectionRow, 'id' | 'projectId'>
  mode: SyncRun['mode']
}

/** Builds a queued run. */
export const newRun = ({ id, now, connection, mode }: RequestedRun): SyncRunRow => ({
  id,
  projectId: connection.projectId,
  connectionId: connection.id,
  status: 'queued',
  mode,
  ...emptyTally(),
  gone: 0,
  error: null,
  retryAt: null,
  rateLimit: null,
  checkpoint: null,
  lease: 0,
  leaseUntil: null,
  attempts: 0,
  limited: 0,
  createdAt: now,
  total: null,
  startedAt: null,
  finishedAt: null,
})
