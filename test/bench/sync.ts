/**
 * How much a sync costs beside the requests themselves, and how much memory it takes. Not a test: it needs a quiet
 * machine. `TEST_DATABASE_URL=postgres://... node test/bench/sync.ts`
 */
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { githubClient } from '../../src/clients/github.ts'
import { migrate } from '../../src/db/migrate.ts'
import { openDatabase } from '../../src/db/pool.ts'
import { repositories } from '../../src/repositories/index.ts'
import { systemClock } from '../../src/services/clock.ts'
import { services } from '../../src/services/index.ts'
import { setUp } from '../../src/services/setup.ts'
import { startCodeHost } from '../support/code-host.ts'
import { given } from '../support/given.ts'

const ENTRIES = 10_000
const admin = new URL(process.env.TEST_DATABASE_URL ?? 'postgres://postgres@127.0.0.1:5432/postgres')
const name = `inlet_bench_${randomBytes(4).toString('hex')}`
const worker = fileURLToPath(new URL('../support/sync-process.ts', import.meta.url))

/** V8 lets garbage lie as long as there is room; bounded, a process holds what it needs. */
const BOUNDED = ['--max-old-space-size=96', '--max-semi-space-size=8']

await onServer(`create database ${name}`)
const connectionString = Object.assign(new URL(admin), { pathname: `/${name}` }).href
await migrate(connectionString)
const db = openDatabase({ connectionString, size: 4, onError: () => {} })
const repos = repositories(db)
const clock = systemClock()
await setUp({
  repos,
  clock,
  randomBytes,
  bootstrapKey: randomBytes(32).toString('hex'),
  hasWebhookSecret: true,
})
const host = await startCodeHost()
const codehost = { host: githubClient(), apiUrls: [host.url], token: undefined, encryptionKey: undefined }
const service = services({ repos, clock, randomBytes, codehost })
const caller = {
  type: 'key' as const,
  id: clock.newId(clock.now()),
  keyId: clock.newId(clock.now()),
  name: 'bench',
  scopes: ['admin' as const],
  projectId: null,
  expiresAt: null,
}

try {
  const many = host.repository('bench/many')
  for (let number = 1; number <= ENTRIES; number++) many.issue({ body: `Body of ${number} `.repeat(50) }, 60)
  host.latencyMs = 30
  const project = await connected('bench/many')
  await measure('first import of 10,000 at 30 ms a page', project, many.id)
  await measure('full sync of the same, unchanged', project, many.id)

  host.latencyMs = 0
  const large = host.repository('bench/large')
  for (let number = 1; number <= 500; number++) large.issue({ body: 'ä€x\n"'.repeat(11_000) }, 60)
  await measure('500 issues in pages of 10 MB', await connected('bench/large'), large.id)
} finally {
  await db.$client.end()
  await host.close()
  await onServer(`drop database ${name} with (force)`)
}

async function connected(repository: string): Promise<string> {
  const project = await given(db, clock).project()
  await service.codehost.connect(caller, project.id, { repository, schedule: 'off' })
  return project.id
}

async function measure(what: string, projectId: string, repositoryId: number) {
  const thrownAway = await fetchOnly(repositoryId)
  const child = spawn(process.execPath, [...BOUNDED, worker, connectionString, host.url], {
    stdio: 'inherit',
  })
  await sleep(2_000)
  const before = memoryOf(child.pid)
  let peak = before
  const { id } = await service.codehost.sync(caller, projectId, 'full')
  for (;;) {
    const run = await service.codehost.getRun(caller, projectId, id)
    peak = Math.max(peak, memoryOf(child.pid))
    if (run.finishedAt && run.startedAt) {
      const ms = Date.parse(run.finishedAt) - Date.parse(run.startedAt)
      const ratio = (ms / thrownAway).toFixed(2)
      console.log(
        `${what}: ${run.status}, ${run.fetched} entries, ${ms} ms; fetched and thrown away ${thrownAway} ms; ratio ${ratio}; memory ${before} MB idle, ${peak} MB at most`,
      )
      break
    }
    await sleep(50)
  }
  child.kill('SIGTERM')
  await new Promise((done) => child.once('exit', done))
}

/** The same pages over the same client, parsed and forgotten. */
async function fetchOnly(repositoryId: number): Promise<number> {
  const client = githubClient()
  const access = { apiUrl: host.url, token: null }
  const start = performance.now()
  let next: string | null = client.listingUrl(host.url, repositoryId)
  while (next) {
    const page = await client.readPage(access, next)
    if (page.outcome !== 'page') throw new Error(page.outcome)
    next = page.next
  }
  return Math.round(performance.now() - start)
}

/** What it holds as the kernel tells it, in MB; Linux only. */
function memoryOf(pid: number | undefined): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024)
}

async function onServer(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: admin.href })
  await client.connect()
  await client.query(statement).finally(() => client.end())
}
