import { setTimeout as sleep } from 'node:timers/promises'
import { githubClient } from '../../../src/clients/github.ts'
import { type CodeHostFake, startCodeHost } from '../../support/code-host.ts'
import { type Figure, inPairs } from '../support/figures.ts'
import { ADMIN_KEY, memoryOf, type Running, type Setup, whilePaused } from '../support/setup.ts'

const ITEMS = 10_000
const PAGE_LATENCY_MS = 30
/** A hundred of them are a page of 11 MB. */
const LARGE_BODY = 'ä€x\n"'.repeat(11_000)

/** What a sync costs beside fetching the same pages and throwing them away, and what it holds while pages are large. */
export async function sync(setup: Setup): Promise<Figure[]> {
  const host = await startCodeHost()
  const many = host.repository('bench/many')
  for (let number = 1; number <= ITEMS; number++) many.issue({ body: `Body of ${number} `.repeat(50) }, 60)
  const large = host.repository('bench/large')
  for (let number = 1; number <= 500; number++) large.issue({ body: LARGE_BODY }, 60)
  const env = { DATABASE_URL: await setup.database('sync'), CODEHOST_API_URLS: host.url }
  try {
    const service = await setup.service(env)
    host.latencyMs = PAGE_LATENCY_MS
    const first = await inPairs({
      name: 'first sync of 10,000 items, 30 ms a page',
      unit: 'ms',
      measure: async () => timeOf(service, await connected(service, many.name)),
      reference: {
        name: 'fetching the pages alone',
        // The service still indexes the texts of the sync before.
        measure: () => whilePaused(service, () => fetched(host, many.id)),
      },
      ratioLimit: { atMost: 1.15 },
    })
    await service.stop()

    host.latencyMs = 0
    const fresh = await setup.service(env)
    await timeOf(fresh, await connected(fresh, large.name))
    const { peak } = memoryOf(fresh)
    await fresh.stop()
    return [
      first,
      {
        name: 'peak memory while syncing pages of 11 MB',
        unit: 'MB',
        value: peak,
        valueLimit: { atMost: 200 },
      },
    ]
  } finally {
    await host.close()
  }
}

/** A new project with this repository, of which nothing is synced yet. */
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

/** The same pages with the same client, parsed and dropped. */
async function fetched(host: CodeHostFake, repositoryId: number): Promise<number> {
  const client = githubClient()
  const access = { apiUrl: host.url, token: null }
  const start = performance.now()
  let next: string | null = client.listingUrl(host.url, repositoryId)
  while (next) {
    const page = await client.readPage(access, { url: next })
    if (page.outcome !== 'page') throw new Error(page.outcome)
    next = page.next
  }
  return performance.now() - start
}

// biome-ignore lint/suspicious/noExplicitAny: the shape depends on the route.
async function ask(service: Running, method: string, path: string, body?: object): Promise<any> {
  const response = await fetch(service.url + path, {
    method,
    headers: { 'x-api-key': ADMIN_KEY, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  })
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`)
  return response.json()
}
