import { setTimeout as sleep } from 'node:timers/promises'
import type { CodeHost, HostAccess, HostLimits } from '../../clients/codehost.ts'
import type { Operations } from '../../domain/operation.ts'
import type { Clock } from '../../lib/clock.ts'
import { VERSION } from '../../lib/version.ts'
import type { SyncRunRow } from '../../repositories/codehost/sync-runs.ts'
import type { Repositories } from '../../repositories/index.ts'
import type { EnvironmentPipe } from '../../repositories/pipes/index.ts'
import type { Stats } from '../../repositories/stats.ts'
import { tallyOf } from '../codehost/run-view.ts'
import type {
  ClaimOutcome,
  DeliveryOutcome,
  PushOutcome,
  SignInOutcome,
  SignInWay,
  SourceOutcome,
  WebhookOutcome,
} from '../recorder.ts'
import type { MetricDefinitions } from './definitions.ts'

export type Metrics = ReturnType<typeof metricsService>

/** The outcome of a delivery that failed. An error that is not named here refused it, before the body was read. */
export const failureOutcome = ({ code }: { code: string }): DeliveryOutcome => FAILURES[code] ?? 'refused'

const FAILURES: Record<string, DeliveryOutcome> = {
  validation_failed: 'rejected',
  invalid_json: 'unreadable',
  unavailable: 'unavailable',
  internal_error: 'failed',
}

/** What became of a sign-in that threw. */
export const signInFailure = ({ code }: { code: string }): SignInOutcome =>
  FAILED_SIGN_INS.has(code) ? 'failed' : 'refused'

const FAILED_SIGN_INS: ReadonlySet<string> = new Set(['unavailable', 'internal_error'])

export interface PoolState {
  total: number
  idle: number
  waiting: number
  max: number
}

export interface MetricsDeps {
  repos: Pick<Repositories, 'stats'>
  clock: Pick<Clock, 'now'>
  /** The state of this process's pool. */
  pool?: (() => PoolState) | undefined
  /** Whether the database is the embedded server. */
  isEmbedded?: boolean | undefined
  /** Whether connections with a session of their own work, if they have a URL of their own. */
  isDirectUp?: (() => boolean) | undefined
  /** The identity provider of the environment. */
  environment?: EnvironmentPipe | undefined
}

/** An unresponsive database must not delay the scrape beyond its own timeout. */
const DEADLINE_MS = 2_000
const WEEK_MS = 7 * 86_400_000
const DAY_MS = 86_400_000

export const metricsOperations = {
  text: { scope: 'metrics:read', isServiceWide: true },
} satisfies Operations<ReturnType<typeof metricsService>>

interface MeasuredResponse {
  method: string
  route: string
  status: number
  ms: number
}

/** The metrics of this process, as Prometheus reads them. Counters begin at zero when the process starts. */
export function metricsService(deps: MetricsDeps) {
  const { repos, clock, pool, isEmbedded = false, isDirectUp, environment } = deps
  let definitions: MetricDefinitions | undefined
  let loading: Promise<MetricDefinitions> | undefined
  let reading: Promise<Stats> | undefined
  let databaseStartedAt: number | undefined
  let onError: (error: unknown) => void = () => {}

  return {
    /** Records a response. `route` is the pattern, not the URL. */
    responded({ method, route, status, ms }: MeasuredResponse) {
      record(({ requests }) =>
        requests.observe({ method, route, status: `${Math.floor(status / 100)}xx` }, ms / 1000),
      )
    },

    /** Records an error by its code, which is one of a fixed list. */
    failed: (code: string) => record(({ errors }) => errors.inc({ code })),

    delivered: (outcome: SourceOutcome) => record(({ deliveries }) => deliveries.inc({ outcome })),
    pushed: (outcome: PushOutcome) => record(({ pushes }) => pushes.inc({ outcome })),
    sourceDelivered: (outcome: SourceOutcome) =>
      record(({ sourceDeliveries }) => sourceDeliveries.inc({ outcome })),
    claimed: (outcome: ClaimOutcome, count = 1) => record(({ claims }) => claims.inc({ outcome }, count)),
    sentToWebhook: (outcome: WebhookOutcome) =>
      record(({ webhookAttempts }) => webhookAttempts.inc({ outcome })),
    signedIn: (way: SignInWay, outcome: SignInOutcome) =>
      record(({ signIns }) => signIns.inc({ way, outcome })),
    buffered: () => record(({ buffered }) => buffered.inc()),
    streamOpened: () => record(({ streams }) => streams.inc()),
    streamClosed: () => record(({ streams }) => streams.dec()),

    /** Runs background work and records its duration. */
    async timed<T>(queue: string, work: () => Promise<T>): Promise<T> {
      const since = performance.now()
      const end = (outcome: 'completed' | 'failed') =>
        record(({ jobSeconds }) => jobSeconds.observe({ queue, outcome }, (performance.now() - since) / 1000))
      try {
        const result = await work()
        end('completed')
        return result
      } catch (error) {
        end('failed')
        throw error
      }
    },

    /** Records a sync run; counts only its end or postponement. */
    synced(run: SyncRunRow): void {
      const { status: outcome, startedAt, finishedAt } = run
      if (outcome === 'queued' || outcome === 'running') return
      record(({ syncRuns }) => syncRuns.inc({ outcome }))
      if (outcome === 'rate_limited') return
      const tally = tallyOf(run)
      const counts = [
        ...[tally.counts.issues, tally.counts.pullRequests].flatMap((byOutcome) => Object.entries(byOutcome)),
        ['skipped', tally.skipped.length] as const,
        ['gone', run.gone] as const,
      ]
      record(({ syncItems, jobSeconds }) => {
        for (const [outcome, count] of counts) syncItems.inc({ outcome }, count)
        if (!startedAt || !finishedAt) return
        jobSeconds.observe({ queue: 'sync', outcome }, (finishedAt.getTime() - startedAt.getTime()) / 1000)
      })
    },

    /** Wraps a code host to count its requests. */
    watchedHost(host: CodeHost): CodeHost {
      return {
        ...host,
        findRepository: (access, options) => watched(access, host.findRepository(access, options)),
        readPage: (access, options) => watched(access, host.readPage(access, options)),
        readItem: (access, options) => watched(access, host.readItem(access, options)),
        readComment: (access, options) => watched(access, host.readComment(access, options)),
        changeIssue: (access, options) => watched(access, host.changeIssue(access, options)),
        createComment: (access, options) => watched(access, host.createComment(access, options)),
        changeComment: (access, options) => watched(access, host.changeComment(access, options)),
        deleteComment: (access, options) => watched(access, host.deleteComment(access, options)),
        countItems: (access, options) => watched(access, host.countItems(access, options)),
      }
    },

    /** Sets the listener for errors of the database. */
    onError(listener: (error: unknown) => void): void {
      onError = listener
    },

    /** All metrics in the text format of Prometheus, also while the database is unavailable. */
    async text(): Promise<string> {
      const definitions = await load()
      const stats = await readStats()
      observeDatabase(definitions, stats)
      observePool(definitions)
      return definitions.registry.metrics()
    },
  }

  /** The library takes a tenth of the startup time to load, so it is loaded when the first metric is recorded. */
  function record(use: (definitions: MetricDefinitions) => void): void {
    if (definitions) use(definitions)
    else void load().then(use)
  }

  function load(): Promise<MetricDefinitions> {
    loading ??= import('./definitions.ts').then(({ metricDefinitions }) => {
      definitions = metricDefinitions({ isEmbedded })
      definitions.build.set({ version: VERSION, node: process.version }, 1)
      return definitions
    })
    return loading
  }

  /** Undefined if the database does not respond; concurrent calls share one query. */
  async function readStats(): Promise<Stats | undefined> {
    const week = new Date(clock.now().getTime() - WEEK_MS + DAY_MS).toISOString().slice(0, 10)
    reading ??= repos.stats.read({ since: week, environment }).finally(() => {
      reading = undefined
    })
    const timer = new AbortController()
    const timeout = sleep(DEADLINE_MS, undefined, { signal: timer.signal })
    timeout.catch(() => {})
    try {
      return await Promise.race([reading, timeout])
    } catch (error) {
      onError(error)
      return undefined
    } finally {
      timer.abort()
    }
  }

  function observeDatabase(definitions: MetricDefinitions, stats: Stats | undefined): void {
    const isUp = Number(stats !== undefined)
    definitions.databaseUp.set(isDirectUp ? { url: 'DATABASE_URL' } : {}, isUp)
    if (isDirectUp) definitions.databaseUp.set({ url: 'DATABASE_DIRECT_URL' }, Number(isDirectUp()))
    definitions.embeddedUp?.set(isUp)
    // Values from before the outage would look current.
    definitions.jobs.reset()
    definitions.pipes.reset()
    definitions.pipeFailing.reset()
    if (!stats) return
    for (const { queue, state, count } of stats.jobs) definitions.jobs.set({ queue, state }, count)
    definitions.unreadable.set(stats.unreadable)
    definitions.oldestPush.set(stats.oldestPushSeconds)
    definitions.openClaims.set(stats.openClaims)
    definitions.oldestWebhookDelivery.set(stats.oldestWebhookDeliverySeconds)
    for (const [state, count] of Object.entries(stats.webhooks)) definitions.webhooks.set({ state }, count)
    for (const { kind, state, count, failingSeconds } of stats.pipes) {
      definitions.pipes.set({ kind, state }, count)
      if (state === 'failing') definitions.pipeFailing.set({ kind }, failingSeconds)
    }
    const isRestarted = databaseStartedAt !== undefined && databaseStartedAt !== stats.startedAt
    databaseStartedAt = stats.startedAt
    if (!isRestarted) return
    definitions.databaseRestarts.inc()
    definitions.embeddedRestarts?.inc()
  }

  function observePool(definitions: MetricDefinitions): void {
    if (!pool) return
    const { total, idle, waiting, max } = pool()
    definitions.poolConnections.set({ state: 'idle' }, idle)
    definitions.poolConnections.set({ state: 'busy' }, total - idle)
    definitions.poolMax.set(max)
    definitions.poolWaiting.set(waiting)
  }

  async function watched<T extends { outcome: string; limits?: HostLimits }>(
    { apiUrl: host }: HostAccess,
    response: Promise<T>,
  ): Promise<T> {
    const { outcome, limits } = await response
    const remaining = limits?.remaining ?? null
    record(({ hostRequests, hostRemaining }) => {
      hostRequests.inc({ host, outcome })
      if (remaining !== null) hostRemaining.set({ host }, remaining)
    })
    return response
  }
}
