import { setTimeout as sleep } from 'node:timers/promises'
import type { CodeHost, HostAccess, HostLimits } from '../clients/codehost.ts'
import { VERSION } from '../lib/version.ts'
import type { Repositories } from '../repositories/index.ts'
import type { SyncRunRow } from '../repositories/sync-runs.ts'
import type { Vitals } from '../repositories/vitals.ts'
import type { Clock } from './clock.ts'
import type { Instruments } from './instruments.ts'
import { tallyOf } from './sync-run-view.ts'

export type Metrics = ReturnType<typeof metricsService>

/** What became of a delivery to the feedback receiver. */
export type DeliveryOutcome =
  | 'created'
  | 'duplicate'
  | 'ignored'
  | 'rejected'
  | 'unreadable'
  | 'refused'
  | 'unavailable'
  | 'failed'

/** What became of a sync run, for now or for good. */
export type SyncOutcome = Exclude<SyncRunRow['status'], 'queued' | 'running'>

export interface PoolState {
  total: number
  idle: number
  waiting: number
  most: number
}

export interface MetricsDeps {
  repos: Pick<Repositories, 'vitals'>
  clock: Pick<Clock, 'now'>
  /** How the pool of this process is doing. */
  pool?: (() => PoolState) | undefined
  /** Whether the database is the embedded server. */
  isEmbedded?: boolean | undefined
}

/** A database that says nothing must not cost more than the patience of whoever asks. */
const PATIENCE_MS = 2_000
const WEEK_MS = 7 * 86_400_000
const DAY_MS = 86_400_000

/** How the service is doing, as Prometheus reads it. Counters are of this process and begin with it. */
export function metricsService({ repos, clock, pool, isEmbedded = false }: MetricsDeps) {
  let made: Instruments | undefined
  let making: Promise<Instruments> | undefined
  let reading: Promise<Vitals> | undefined
  let databaseStartedAt: number | undefined
  let onTrouble: (error: unknown) => void = () => {}

  return {
    /** A request was answered. `route` is the pattern, not the address. */
    answered({ method, route, status, ms }: { method: string; route: string; status: number; ms: number }) {
      record(({ requests }) =>
        requests.observe({ method, route, status: `${Math.floor(status / 100)}xx` }, ms / 1000),
      )
    },

    delivered: (outcome: DeliveryOutcome) => record(({ deliveries }) => deliveries.inc({ outcome })),
    held: () => record(({ held }) => held.inc()),
    streamOpened: () => record(({ streams }) => streams.inc()),
    streamClosed: () => record(({ streams }) => streams.dec()),

    /** Does a piece of background work and measures it. */
    async timed<T>(queue: string, work: () => Promise<T>): Promise<T> {
      const since = performance.now()
      const end = (outcome: 'completed' | 'failed') =>
        record(({ jobSeconds }) => jobSeconds.observe({ queue, outcome }, (performance.now() - since) / 1000))
      try {
        const done = await work()
        end('completed')
        return done
      } catch (error) {
        end('failed')
        throw error
      }
    },

    /** A sync run was written; only its end, or that it was put off, is counted. */
    synced(run: SyncRunRow): void {
      const { status: outcome, startedAt, finishedAt } = run
      if (outcome === 'queued' || outcome === 'running') return
      record(({ syncRuns }) => syncRuns.inc({ outcome }))
      if (outcome === 'rate_limited') return
      const tally = tallyOf(run)
      const entries = [
        ...[tally.counts.issues, tally.counts.pullRequests].flatMap((counts) => Object.entries(counts)),
        ['skipped', tally.skipped.length] as const,
        ['gone', run.gone] as const,
      ]
      record(({ syncEntries, jobSeconds }) => {
        for (const [outcome, count] of entries) syncEntries.inc({ outcome }, count)
        if (!startedAt || !finishedAt) return
        jobSeconds.observe({ queue: 'sync', outcome }, (finishedAt.getTime() - startedAt.getTime()) / 1000)
      })
    },

    /** The same code host, with each of its requests counted. */
    watchedHost(host: CodeHost): CodeHost {
      return {
        ...host,
        findRepository: (access, ...rest) => watched(access, host.findRepository(access, ...rest)),
        readPage: (access, ...rest) => watched(access, host.readPage(access, ...rest)),
        readEntry: (access, ...rest) => watched(access, host.readEntry(access, ...rest)),
      }
    },

    /** Hears why the database did not answer. */
    onTrouble(listener: (error: unknown) => void): void {
      onTrouble = listener
    },

    /** All of it in the text format of Prometheus. Answers also while the database is away. */
    async text(): Promise<string> {
      const it = await load()
      const vitals = await readVitals()
      tellOfDatabase(it, vitals)
      tellOfPool(it)
      return it.registry.metrics()
    },
  }

  /** The library takes a tenth of the start to load: the first that is counted waits for it, nobody else does. */
  function record(what: (instruments: Instruments) => void): void {
    if (made) what(made)
    else void load().then(what)
  }

  function load(): Promise<Instruments> {
    making ??= import('./instruments.ts').then(({ instruments }) => {
      made = instruments({ isEmbedded })
      made.build.set({ version: VERSION, node: process.version }, 1)
      return made
    })
    return making
  }

  /** Undefined when the database is away or silent; what was asked is not asked twice meanwhile. */
  async function readVitals(): Promise<Vitals | undefined> {
    const week = new Date(clock.now().getTime() - WEEK_MS + DAY_MS).toISOString().slice(0, 10)
    reading ??= repos.vitals.read(week).finally(() => {
      reading = undefined
    })
    const enough = new AbortController()
    const tooLate = sleep(PATIENCE_MS, undefined, { signal: enough.signal })
    tooLate.catch(() => {})
    try {
      return await Promise.race([reading, tooLate])
    } catch (error) {
      onTrouble(error)
      return undefined
    } finally {
      enough.abort()
    }
  }

  function tellOfDatabase(it: Instruments, vitals: Vitals | undefined): void {
    const isUp = Number(vitals !== undefined)
    it.databaseUp.set(isUp)
    it.embeddedUp?.set(isUp)
    // What was true before the database went away would pass for what is true now.
    it.jobs.reset()
    if (!vitals) return
    for (const { queue, state, count } of vitals.jobs) it.jobs.set({ queue, state }, count)
    it.unreadable.set(vitals.unreadable)
    const isAnother = databaseStartedAt !== undefined && databaseStartedAt !== vitals.startedAt
    databaseStartedAt = vitals.startedAt
    if (!isAnother) return
    it.databaseRestarts.inc()
    it.embeddedRestarts?.inc()
  }

  function tellOfPool(it: Instruments): void {
    if (!pool) return
    const { total, idle, waiting, most } = pool()
    it.poolConnections.set({ state: 'idle' }, idle)
    it.poolConnections.set({ state: 'busy' }, total - idle)
    it.poolMost.set(most)
    it.poolWaiting.set(waiting)
  }

  async function watched<T extends { outcome: string; limits?: HostLimits }>(
    { apiUrl: host }: HostAccess,
    asked: Promise<T>,
  ): Promise<T> {
    const answer = await asked
    const remaining = answer.limits?.remaining ?? null
    record(({ hostRequests, hostRemaining }) => {
      hostRequests.inc({ host, outcome: answer.outcome })
      if (remaining !== null) hostRemaining.set({ host }, remaining)
    })
    return answer
  }
}
