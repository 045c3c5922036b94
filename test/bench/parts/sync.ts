import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { githubClient } from '../../../src/clients/github.ts'
import { type CodeHostFake, startCodeHost } from '../../support/code-host.ts'
import { type Figure, inPairs } from '../support/figures.ts'
import { ADMIN_KEY, type Running, type Stage } from '../support/stage.ts'

const ENTRIES = 10_000
const PAGE_LATENCY_MS = 30
/** A hundred of them are a page of 11 MB. */
const LARGE_BODY = 'ä€x\n"'.repeat(11_000)

/** What a sync costs beside fetching the same pages and throwing them away, and what it holds while pages are large. */
export async function sync(stage: Stage): Promise<Figure[]> {
  const host = await startCodeHost()
  const many = host.repository('bench/many')
  for (let number = 1; number <= ENTRIES; number++) many.issue({ body: `Body of ${number} `.repeat(50) }, 60)
  const large = host.repository('bench/large')
  for (let number = 1; number <= 500; number++) large.issue({ body: LARGE_BODY }, 60)
  const env = { DATABASE_URL: await stage.database('sync'), CODEHOST_API_URLS: host.url }
  try {
    const service = await stage.service(env)
    host.latencyMs = PAGE_LATENCY_MS
    const first = await inPairs({
      name: 'first sync of 10,000 entries, 30 ms a page',
      unit: 'ms',
      ours: async () => timeOf(service, await connected(service, many.name)),
      reference: { name: 'the pages fetched and thrown away', measure: () => fetched(host, many.id) },
      limit: 1.3,
    })
    await service.stop()

    host.latencyMs = 0
    const fresh = await stage.service(env)
    await timeOf(fresh, await connected(fresh, large.name))
    const held = most(fresh)
    await fresh.stop()
    return [
      first,
      { name: 'memory at most, while syncing pages of 11 MB', unit: 'MB', ours: held, mostOfOurs: 200 },
    ]
  } finally {
    await host.close()
  }
}

/** A new project that follows the repository: its first sync makes everything. */
async function connected(service: Running, repository: string): Promise<string> {
  const { id } = await ask(service, 'POST', '/api/projects', { name: repository })
  await ask(service, 'PUT', `/api/projects/${id}/codehost`, { repository, schedule: 'off' })
  return id as string
}

async function timeOf(service: Running, projectId: string): Promise<number> {
  const { id } = await ask(service, 'POST', `/api/codehost/${projectId}/sync`)
  for (;;) {
    const run = await ask(service, 'GET', `/api/codehost/${projectId}/syncs/${id}`)
    if (run.status === 'completed') return Date.parse(run.finishedAt) - Date.parse(run.startedAt)
    if (run.finishedAt) throw new Error(`The sync failed: ${JSON.stringify(run.error)}`)
    await sleep(50)
  }
}

/** The same pages over the same client, parsed and forgotten. */
async function fetched(host: CodeHostFake, repositoryId: number): Promise<number> {
  const client = githubClient()
  const access = { apiUrl: host.url, token: null }
  const start = performance.now()
  let next: string | null = client.listingUrl(host.url, repositoryId)
  while (next) {
    const page = await client.readPage(access, next)
    if (page.outcome !== 'page') throw new Error(page.outcome)
    next = page.next
  }
  return performance.now() - start
}

// biome-ignore lint/suspicious/noExplicitAny: whatever the route answers.
async function ask(service: Running, method: string, path: string, body?: object): Promise<any> {
  const answer = await fetch(service.url + path, {
    method,
    headers: { 'x-api-key': ADMIN_KEY, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  })
  if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`)
  return answer.json()
}

/** The most it has held since it began, as the kernel tells it. */
function most({ process }: Running): number {
  const status = readFileSync(`/proc/${process.pid}/status`, 'utf8')
  return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1024
}
