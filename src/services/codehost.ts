import { setTimeout as wait } from 'node:timers/promises'
import type { CodeHost, HostAccess, Refusal, Repository, Silence } from '../clients/codehost.ts'
import { nextFullAt, nextRunAt, sooner } from '../domain/codehost-progress.ts'
import { judgeRefusal } from '../domain/codehost-refusal.ts'
import { isHostOf, type NamedRepository, repositoryOf } from '../domain/codehost-repository.ts'
import { emptyTally } from '../domain/codehost-tally.ts'
import {
  codehostRefused,
  codehostUnreachable,
  codehostUrlNotAllowed,
  connectionNotFound,
  encryptionKeyMissing,
  listNotFound,
  projectNotFound,
  repositoryNotConnected,
  syncInProgress,
  syncRunNotFound,
  validationFailed,
} from '../errors.ts'
import type { ConnectionRow } from '../repositories/codehost.ts'
import type { BoundRepositories, Repositories } from '../repositories/index.ts'
import type { SyncRunRow } from '../repositories/sync-runs.ts'
import type { Connection, ConnectionRequest, SyncRun } from '../schemas/codehost.ts'
import type { Caller } from './access.ts'
import type { Clock } from './clock.ts'
import type { CodehostDeps, TokenVault } from './codehost-token.ts'
import { pageOf } from './page.ts'
import { writableProject } from './projects.ts'
import { DISCONNECTED, endRun } from './sync-end.ts'
import { toConnection, toSyncRun } from './sync-run-view.ts'

interface Deps extends Pick<CodehostDeps, 'host' | 'apiUrls' | 'encryptionKey'> {
  repos: Repositories
  clock: Clock
  vault: TokenVault
}

/** While somebody waits for a run, its row is looked at this often. */
const GLANCE_MS = 150

const ENDED: SyncRun['status'][] = ['completed', 'failed', 'rate_limited']

/** Which repository a project follows, and the runs that follow it. */
export function codehostService({ repos, clock, host, apiUrls, encryptionKey, vault }: Deps) {
  return {
    /** Connects or changes the connection, once the code host has shown that it can be read. Starts no run. */
    async connect(caller: Caller, projectId: string, input: ConnectionRequest): Promise<Connection> {
      const named = repositoryOf(input.repository)
      if (!named) throw wrongRepository('must be owner/name, or the https or git@ address of a repository')
      for (;;) {
        const connection = await connectOnce(caller, projectId, named, input)
        if (connection) return connection
      }
    },

    async get(caller: Caller, projectId: string): Promise<Connection> {
      const bound = repos.within(caller)
      if (!(await bound.projects.find(projectId))) throw projectNotFound(projectId)
      return connectionOf(bound, projectId)
    },

    /** The tasks stay; a run that is active ends. */
    async disconnect(caller: Caller, projectId: string): Promise<void> {
      await repos.within(caller).transaction(async (repos) => {
        await writableProject(repos, projectId)
        if (!(await repos.codehost.findForUpdate(projectId))) throw connectionNotFound()
        const run = await repos.syncRuns.findActiveForUpdate(projectId)
        if (run) await endRun(repos, clock, run, DISCONNECTED)
        await repos.codehost.delete(projectId)
        await repos.configurationChanges.announceProject(projectId)
      })
    },

    /** Queues a run. Whoever calls this wakes the worker once the transaction is through. */
    async sync(caller: Caller, projectId: string, mode: SyncRun['mode']): Promise<SyncRun> {
      return repos.within(caller).transaction(async (repos) => {
        await writableProject(repos, projectId)
        const connection = await repos.codehost.find(projectId)
        if (!connection) throw repositoryNotConnected()
        const now = clock.now()
        const row = newRun(clock.newId(now), now, connection, mode)
        // The one in the way may have ended by the time it is looked for.
        for (;;) {
          if (await repos.syncRuns.insert(row)) return toSyncRun(row)
          const active = await repos.syncRuns.findActive(projectId)
          if (active) throw syncInProgress(active.id, active.retryAt?.toISOString() ?? null)
        }
      })
    },

    async listRuns(caller: Caller, projectId: string, page: { limit?: number; cursor?: string }) {
      const bound = repos.within(caller)
      if (!(await bound.projects.find(projectId))) throw projectNotFound(projectId)
      return pageOf('syncs', page, async (before, limit) =>
        (await bound.syncRuns.list(projectId, before, limit)).map(toSyncRun),
      )
    },

    getRun,

    /**
     * The run once it has ended or waits for the code host, or as it is after so long. It was started, whatever
     * happens while it is waited for: when it can no longer be looked at, the answer is what was seen last.
     */
    async awaitRun(
      caller: Caller,
      started: SyncRun,
      { patienceMs, signal }: { patienceMs: number; signal: AbortSignal },
    ): Promise<{ run: SyncRun; isOver: boolean }> {
      const deadline = performance.now() + patienceMs
      for (let run = started; ; ) {
        const seen = await getRun(caller, started.projectId, started.id).catch(() => undefined)
        run = seen ?? run
        const isOver = ENDED.includes(run.status)
        if (!seen || isOver || signal.aborted || performance.now() >= deadline) return { run, isOver }
        await wait(GLANCE_MS, undefined, { signal }).catch(() => {})
      }
    },
  }

  /** Undefined when the stored token is another one once the code host has answered: it is asked with that one then. */
  async function connectOnce(
    caller: Caller,
    projectId: string,
    { name, host: pasted }: NamedRepository,
    { token, listId = null, schedule = 'hourly', apiUrl: wanted }: ConnectionRequest,
  ): Promise<Connection | undefined> {
    const seen = await writable(caller, projectId, listId)
    const apiUrl = allowed(wanted)
    if (pasted && !isHostOf(apiUrl, pasted)) throw wrongHost(pasted, apiUrl)
    if (token && !encryptionKey) throw encryptionKeyMissing()
    const stored = storedFor(apiUrl, seen)
    const own = token === undefined ? stored && vault.open(stored) : token
    const access = { apiUrl, token: own ?? vault.sharedToken(apiUrl) }
    const repository = await reachable(host, access, name, clock)

    return repos.within(caller).transaction(async (repos) => {
      await writableProject(repos, projectId)
      await refuseForeignList(repos, projectId, listId)
      const present = await repos.codehost.findForUpdate(projectId)
      if (token === undefined && storedFor(apiUrl, present)?.token !== stored?.token) return undefined
      const now = clock.now()
      const isSame = present?.repositoryId === repository.id && present.apiUrl === apiUrl
      if (present && !isSame) {
        const run = await repos.syncRuns.findActiveForUpdate(projectId)
        if (run) await endRun(repos, clock, run, DISCONNECTED)
        await repos.codehost.delete(projectId)
      }
      const id = isSame ? present.id : clock.newId(now)
      const isKept = isSame && token === undefined
      const change = {
        repository: repository.name,
        token: isKept ? present.token : own ? vault.seal(own, id) : null,
        listId,
        schedule,
        updatedAt: now,
        nextRunAt: sooner(isSame ? present.nextRunAt : null, nextRunAt(schedule, now)),
      }
      if (isSame && !isKept) {
        // Whatever it waits for, it waits for with the old token.
        const run = await repos.syncRuns.findActiveForUpdate(projectId)
        if (run?.status === 'rate_limited') await repos.syncRuns.update(run.id, { retryAt: null })
      }
      if (isSame) await repos.codehost.update(id, change)
      else
        await repos.codehost.insert({
          ...fresh(id, projectId, now),
          ...change,
          apiUrl,
          repositoryId: repository.id,
        })
      await repos.configurationChanges.announceProject(projectId)
      return connectionOf(repos, projectId)
    })
  }

  async function getRun(caller: Caller, projectId: string, runId: string): Promise<SyncRun> {
    const bound = repos.within(caller)
    if (!(await bound.projects.find(projectId))) throw projectNotFound(projectId)
    const run = await bound.syncRuns.find(projectId, runId)
    if (!run) throw syncRunNotFound(runId)
    return toSyncRun(run)
  }

  /** Before anybody is asked over the network: may the caller write here, and is the list one of the project? */
  async function writable(caller: Caller, projectId: string, listId: string | null) {
    return repos.within(caller).transaction(async (repos) => {
      await writableProject(repos, projectId)
      await refuseForeignList(repos, projectId, listId)
      return repos.codehost.find(projectId)
    })
  }

  function allowed(given: string | undefined): string {
    const url = given === undefined ? apiUrls[0] : URL.parse(given)?.href.replace(/\/+$/, '')
    if (url === undefined || !apiUrls.includes(url)) throw codehostUrlNotAllowed(given ?? '', apiUrls)
    return url
  }
}

/** The token of a connection, with whose it is. A token goes to no other host than the one it was given for. */
function storedFor(apiUrl: string, connection: ConnectionRow | undefined) {
  if (connection?.apiUrl !== apiUrl || connection.token === null) return undefined
  return { id: connection.id, token: connection.token }
}

async function refuseForeignList(repos: BoundRepositories, projectId: string, listId: string | null) {
  const list = listId === null ? undefined : await repos.lists.find(listId)
  if (listId !== null && list?.projectId !== projectId) throw listNotFound(listId)
}

/** A run that waits for a worker. */
export const newRun = (
  id: string,
  now: Date,
  connection: Pick<ConnectionRow, 'id' | 'projectId'>,
  mode: SyncRun['mode'],
): SyncRunRow => ({
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
  startedAt: null,
  finishedAt: null,
})

const fresh = (id: string, projectId: string, now: Date) => ({
  id,
  projectId,
  position: null,
  nextRunAt: null,
  // What is deleted while everything is listed for the first time may hide another entry.
  nextFullAt: nextFullAt('attempted', now),
  connectedAt: now,
})

const wrongRepository = (message: string) =>
  validationFailed([{ path: '/repository', code: 'wrong_format', message }])

const wrongHost = (host: string, apiUrl: string) =>
  wrongRepository(
    `is an address of ${host.slice(0, 100)}, but ${apiUrl} is asked: give owner/name, or the apiUrl of that host`,
  )

async function connectionOf(repos: BoundRepositories, projectId: string): Promise<Connection> {
  const [connection] = await repos.codehost.listWithRuns([projectId])
  if (!connection) throw connectionNotFound()
  return toConnection(connection)
}

/** The repository behind a name, once its issues could be read. */
async function reachable(
  host: CodeHost,
  access: HostAccess,
  name: string,
  clock: Pick<Clock, 'now'>,
): Promise<Repository> {
  const found = await host.findRepository(access, name)
  if (found.outcome !== 'found') throw refusal(found)
  const { repository } = found
  // That a repository can be seen does not mean that its issues can.
  const page = await host.readPage(access, host.latestUrl(access.apiUrl, repository.id))
  if (page.outcome === 'refused' || page.outcome === 'unreachable') throw refusal(page)
  return repository

  function refusal(answer: Refusal | Silence) {
    if (answer.outcome === 'unreachable') return codehostUnreachable(answer.why)
    const now = clock.now()
    const judged = judgeRefusal(answer, { now, hasToken: access.token !== null, limitedBefore: 0 })
    if (judged.verdict === 'fail') return codehostRefused(judged.code, judged.message)
    const seconds = Math.ceil((judged.retryAt.getTime() - now.getTime()) / 1000)
    return codehostUnreachable(`it limits requests until ${judged.retryAt.toISOString()}.`, seconds)
  }
}
