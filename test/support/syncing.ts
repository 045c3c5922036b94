import { pino } from 'pino'
import { expect, vi } from 'vitest'
import { startOutboxWorker } from '../../src/jobs/outbox.ts'
import { startPushWorker } from '../../src/jobs/push.ts'
import { startSyncWorker } from '../../src/jobs/sync.ts'
import type { Clock } from '../../src/lib/clock.ts'
import { startApp, type TestApp, type TestAppOptions } from './app.ts'
import { type HostToken, startCodeHost } from './code-host.ts'

export type Syncing = Awaited<ReturnType<typeof startSyncing>>

interface SyncingOptions {
  env?: Record<string, string>
  tokens?: Record<string, HostToken>
  hostTimeoutMs?: number
  /** Runs at work at once. */
  concurrency?: number
  clock?: Clock
  hasDatabaseClock?: boolean
  limits?: TestAppOptions['limits']
  logger?: TestAppOptions['logger']
  /** Without it, a test sends what is to be written. */
  hasOutboxWorker?: boolean
}

const silent = pino({ level: 'silent' })

const ENCRYPTION_KEY = 'ab'.repeat(32)

/** The service with its worker, and a code host for it. */
export async function startSyncing({
  env = {},
  tokens = {},
  hostTimeoutMs = 15_000,
  concurrency = 2,
  clock,
  hasDatabaseClock = false,
  limits,
  logger,
  hasOutboxWorker = true,
}: SyncingOptions = {}) {
  const host = await startCodeHost({ tokens })
  const app = await startApp({
    env: { CODEHOST_API_URLS: host.url, ENCRYPTION_KEY, ...env },
    hostTimeoutMs,
    hasDatabaseClock,
    limits,
    ...(logger && { logger }),
    ...(clock && { clock }),
  })
  const worker = workerOf(app, { concurrency })
  const pushWorker = startPushWorker({ push: app.service.push, logger: silent, pollMs: 200 })
  const outboxWorker = hasOutboxWorker ? outboxWorkerOf(app) : undefined
  let repositories = 0

  return {
    ...app,
    host,
    /** A project that follows a repository of its own. */
    async connected(connection: Record<string, unknown> = {}, fill = 0) {
      const repository = host.repository(`acme/app-${++repositories}`)
      repository.fill(fill)
      const project = await app.given.project()
      const body = { repository: repository.name, schedule: 'off', ...connection }
      const response = await app.put(`/api/projects/${project.id}/codehost`, body)
      if (response.status !== 200) throw new Error(JSON.stringify(response.body))
      return { project, repository, sync: (query = '') => sync(project.id, query) }
    },
    /** Starts a run and waits for its end; returns it. */
    sync,
    /** All tasks of a project by their number on the code host. */
    async tasksOf(projectId: string) {
      const rows = await app.query(
        'select *, codehost_number as number from tasks where project_id = $1 order by codehost_number',
        [projectId],
      )
      return new Map(rows.map((row) => [row.number, row]))
    },
    /** What was asked since, one line each, without the host's name. */
    asked: (since = 0) => host.requests.slice(since).map(({ status, url }) => `${status} ${url}`),
    async close() {
      await Promise.all([worker.stop(), pushWorker.stop(), outboxWorker?.stop()])
      await app.close()
      await host.close()
    },
  }

  async function sync(projectId: string, query = '') {
    const response = await app.post(`/api/codehost/${projectId}/sync${query}`, undefined, {
      headers: { prefer: 'wait=60' },
    })
    if (response.status === 202) return ended(response.headers.get('location') ?? '')
    if (response.status !== 200) throw new Error(`${response.status} ${JSON.stringify(response.body)}`)
    return response.body
  }

  /** A busy machine may need longer than one request can wait. */
  async function ended(path: string) {
    return vi.waitFor(
      async () => {
        const { body } = await app.get(path)
        expect(['completed', 'failed', 'rate_limited']).toContain(body.status)
        return body
      },
      { timeout: 180_000, interval: 200 },
    )
  }
}

export const workerOf = (
  app: Pick<TestApp, 'service'>,
  options: Pick<Parameters<typeof startSyncWorker>[0], 'concurrency' | 'turnMs'> = {},
) => startSyncWorker({ sync: app.service.sync, logger: silent, pollMs: 200, ...options })

const outboxWorkerOf = (app: Pick<TestApp, 'service'>) =>
  startOutboxWorker({ outbox: app.service.outbox, logger: silent, pollMs: 200 })

/** The parts of a run must add up to what it fetched. */
// biome-ignore lint/suspicious/noExplicitAny: a run as it came over the wire.
export function sumOf(run: any): number {
  const counts = [run.issues, run.pullRequests].flatMap((counts) => Object.values(counts) as number[])
  return counts.reduce((sum, count) => sum + count, 0) + run.skipped.length
}

/** Whether a request asks for that page of a list, of any repository or of this one. */
export const isPage =
  (number: number, repository?: { id: number }) =>
  ({ url }: { url: string }) =>
    url.endsWith(`&page=${number}`) && (!repository || url.includes(`/repositories/${repository.id}/`))
