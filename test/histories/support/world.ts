import { randomBytes } from 'node:crypto'
import { githubClient } from '../../../src/clients/github.ts'
import { openDatabase } from '../../../src/db/pool.ts'
import { readPush } from '../../../src/domain/codehost/delivery.ts'
import { type CodehostItem, itemOf } from '../../../src/domain/codehost/item.ts'
import type { SyncPosition } from '../../../src/domain/codehost/progress.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import type { ConnectionRow } from '../../../src/repositories/codehost/connections.ts'
import { repositories } from '../../../src/repositories/index.ts'
import type { Caller } from '../../../src/services/access.ts'
import { codehostService, newRun } from '../../../src/services/codehost/index.ts'
import { tokenVault } from '../../../src/services/codehost/token.ts'
import { commentsService } from '../../../src/services/comments.ts'
import { deliveriesService } from '../../../src/services/deliveries/index.ts'
import { pushService } from '../../../src/services/push/index.ts'
import { pushReplay } from '../../../src/services/push/replay.ts'
import { reportsService } from '../../../src/services/reports.ts'
import { syncService } from '../../../src/services/sync/index.ts'
import { writeItems } from '../../../src/services/sync/items.ts'
import { tasksService } from '../../../src/services/tasks/index.ts'
import { singleUpdateOf } from '../../../src/services/tasks/single-update.ts'
import { writeBackService } from '../../../src/services/write-back/index.ts'
import { outboxService } from '../../../src/services/write-back/outbox.ts'
import { callerWith } from '../../support/caller.ts'
import { type CodeHostFake, startCodeHost } from '../../support/code-host.ts'
import type { HostDelivery } from '../../support/code-host-deliveries.ts'
import { issueJson, written } from '../../support/code-host-items.ts'
import { passTime, replaceDatabaseClock } from '../../support/database-clock.ts'
import { given } from '../../support/given.ts'
import { freshDatabase } from '../../support/postgres.ts'
import { mortalInstance } from './instance.ts'
import type { Interruption } from './interruptions.ts'
import { refusable } from './refusable.ts'
import { nothingUnwritten, type Unwritten, type WriteBack } from './settings.ts'
import type { Work } from './steps.ts'

export type World = Awaited<ReturnType<typeof startWorld>>
export type Repository = ReturnType<CodeHostFake['repository']>

/** A project that follows a repository. */
export interface ConnectedProject {
  id: string
  /** Whoever writes for it at the code host. */
  login: string
  token: string
  /** `owner/name` */
  repository: string
  repositoryId: number
  /** Undefined while it is disconnected. */
  connection: Pick<ConnectionRow, 'id' | 'projectId' | 'repositoryId' | 'comments'> | undefined
  writeBack: WriteBack
  unwritten: Unwritten
  caller: Caller
}

interface WorkOptions {
  what: Work['what']
  interruption?: Interruption | null
  delay?(): Promise<void>
  overlap?(): Promise<void>
  onLate?(request: () => Promise<unknown>): void
  onInterrupted?(): void
}

/** Before any change at the code host. */
const SINCE = '2026-01-01T00:00:00Z'
const METRICS = { pushed() {}, synced() {} }
const PIPES = { succeeded() {}, failed() {} }
const PROGRESS = { announce() {} }
const MINUTE = 60_000
const NEVER_MS = 2 ** 31 - 1

/**
 * A database and a code host for many histories, one after another: each has a repository, and connections of its own. No
 * process runs by itself, and time passes only when a history lets it.
 */
export async function startWorld() {
  const database = await freshDatabase()
  await replaceDatabaseClock(database.connectionString)
  const db = openDatabase({ connectionString: database.connectionString, size: 10, onError: () => {} })
  const pool = db.$client
  const host = await startCodeHost()
  const client = githubClient({ timeoutMs: 20_000 })
  const clock = virtualClock()
  const repos = repositories(db)
  const builders = given(db, clock)
  const apiUrls = [host.url]
  const encryptionKeys = [randomBytes(32)] as const
  const vault = tokenVault({ apiUrls, token: undefined, encryptionKeys, randomBytes })
  const signal = new AbortController().signal
  const query = async (text: string, values: unknown[] = []) => (await pool.query(text, values)).rows
  const receiver = pushService({ repos, clock, vault, metrics: METRICS, pipes: PIPES, host: client })
  const tasks = tasksService({ repos, clock, updateSingle: singleUpdateOf({ repos, clock }) })
  const codehost = pushReplay({ repos, push: receiver })
  const replays = { codehost, feedback: codehost, source: codehost }
  let repositoryCount = 0

  return {
    host,
    query,
    /** Lets time pass here, for the database, and at the code host. */
    async pass(minutes: number): Promise<void> {
      clock.advance(minutes * MINUTE)
      await passTime({ query }, minutes * MINUTE)
      host.advance(minutes * 60)
    },
    tasks: refusable(tasks),
    comments: refusable(commentsService({ repos, clock })),
    reports: refusable(reportsService({ repos, clock })),
    writeBack: refusable(writeBackService({ repos })),
    deliveries: refusable(deliveriesService({ repos, replays, pipes: PIPES })),
    codehost: refusable(codehostService({ repos, clock, host: client, apiUrls, encryptionKeys, vault })),
    repository: () => host.repository(`acme/app-${++repositoryCount}`, { isPrivate: true }),

    /**
     * A project that follows a repository and writes to it as somebody of its own. It has the tasks of its issues, as
     * after the first listing.
     */
    async connect(repository: Repository, { login }: { login: string }): Promise<ConnectedProject> {
      const project = await builders.project()
      const id = clock.newId(clock.now())
      const token = randomBytes(8).toString('hex')
      host.tokens.set(token, { login })
      const connection = await builders.connection(project.id, {
        id,
        repositoryId: repository.id,
        repository: repository.name,
        apiUrl: host.url,
        writeBack: 'comments',
        comments: true,
        position: {
          since: SINCE,
          url: client.listingUrl(host.url, repository.id),
          etag: null,
          next: client.updatesUrl(host.url, { repositoryId: repository.id, since: SINCE }),
        } satisfies SyncPosition,
        ...vault.seal({ token }, id),
      })
      await repos.within({ projectIds: [project.id] }).transaction(async (repos) => {
        await writeItems(repos, { clock, connection, items: itemsThere(host, repository) })
      })
      return {
        id: project.id,
        login,
        token,
        repository: repository.name,
        repositoryId: repository.id,
        connection,
        writeBack: 'comments',
        unwritten: nothingUnwritten(),
        caller: callerOf(clock),
      }
    },

    /** Stores a delivery; another time, it is known. Its address is that of a connection. */
    async receive(
      { connection }: ConnectedProject,
      { delivery, deliveryId, connectionId }: Arrival,
    ): Promise<void> {
      if (connection?.id !== connectionId) return
      const parsed = readPush(delivery.payload)
      if (!parsed.isJson) throw new Error(parsed.problem)
      await receiver.receive(
        { connection, secrets: { texts: [], isComplete: true } },
        {
          deliveryId,
          event: delivery.event,
          reading: parsed.reading,
          payload: Buffer.from(delivery.payload),
        },
      )
    },

    /** What one new instance does: all that is due of one kind. */
    async work(project: ConnectedProject, { what, ...options }: WorkOptions): Promise<void> {
      const { interruption = null, overlap = async () => {}, delay = async () => {} } = options
      const { onLate = () => {}, onInterrupted = () => {} } = options
      const instance = mortalInstance({
        pool,
        host: client,
        interruption,
        delay,
        overlap,
        onLate,
        onInterrupted,
      })
      const deps = {
        repos: instance.repos,
        host: instance.host,
        clock,
        vault,
        metrics: METRICS,
        pipes: PIPES,
      }
      await instance.run(async () => {
        if (what === 'apply') await apply(pushService(deps))
        else if (what === 'write') await write(outboxService(deps))
        else {
          const sync = syncService({ ...deps, progress: PROGRESS, pauseMs: 0, heartbeatMs: NEVER_MS })
          await queue(project, what === 'poll' ? 'incremental' : 'full')
          await follow(sync)
        }
      })
    },

    /** Syncs whole, after whatever run was left. */
    async runFull(project: ConnectedProject): Promise<void> {
      for (let attempt = 0; attempt < 8; attempt++) {
        const id = await queue(project, 'full')
        await this.work(project, { what: 'full run' })
        if (!id) continue
        const [run] = await query('select status, error from sync_runs where id = $1', [id])
        if (run.status === 'completed') return
        throw new Error(`The full run has not completed: ${JSON.stringify(run)}`)
      }
      throw new Error('The run before the full run does not end.')
    },

    /** Removes what later histories would work on. */
    async forget(projects: ConnectedProject[]): Promise<void> {
      const ids = projects.map(({ id }) => id)
      await query('delete from sync_runs where project_id = any($1)', [ids])
      await query('delete from codehost_connections where project_id = any($1)', [ids])
    },

    async close() {
      await db.$client.end()
      await host.close()
      await database.drop()
    },
  }

  async function apply(push: ReturnType<typeof pushService>): Promise<void> {
    while (await push.applyDue(signal)) await push.whenRefetched()
    await push.whenRefetched()
    // Throws the errors of what was asked.
    await push.applyDue(signal)
    await push.whenRefetched()
  }

  async function write(outbox: ReturnType<typeof outboxService>): Promise<void> {
    while (await outbox.sendDue(signal));
  }

  /** Returns the id of the new run; undefined if one is active. */
  async function queue({ id: projectId, connection }: ConnectedProject, mode: 'incremental' | 'full') {
    if (!connection) return undefined
    const now = clock.now()
    const run = newRun({ id: clock.newId(now), now, connection, mode })
    return (await repos.within({ projectIds: [projectId] }).syncRuns.insert(run)) ? run.id : undefined
  }

  async function follow(sync: ReturnType<typeof syncService>): Promise<void> {
    // Leases use the clock of the database: those of killed workers are over.
    await query(
      `update sync_runs set lease_until = clock_timestamp() - interval '1 second' where status = 'running'`,
    )
    for (let run = await sync.claim(); run; run = await sync.claim()) await sync.work(run, { stop: signal })
  }
}

/** What the code host has, as it is read from a response. */
export const itemsThere = (
  { url: api }: { url: string },
  { items, about: repository }: Repository,
): CodehostItem[] =>
  [...items.values()].flatMap((item) =>
    item.gone ? [] : (itemOf(JSON.parse(written(issueJson(item, { api, repository })))) ?? []),
  )

/** A delivery on its way to a project. */
export interface Arrival {
  deliveryId: string
  connectionId: string
  delivery: { event: string; payload: Buffer }
}

/** A delivery as it was at the time of its change. */
export const sent = ({ event, payload }: HostDelivery): Arrival['delivery'] => ({
  event,
  payload: Buffer.from(written(payload)),
})

/** Each time that somebody reads it is another one. */
function virtualClock() {
  const { newId } = systemClock()
  let time = Date.now()
  return {
    newId,
    now: () => new Date(time++),
    advance(ms: number): void {
      time += ms
    },
  }
}

function callerOf({ newId, now }: Pick<ReturnType<typeof virtualClock>, 'newId' | 'now'>): Caller {
  return callerWith({ id: newId(now()), name: 'ada' })
}
