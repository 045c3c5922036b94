import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Syncing, startSyncing, sumOf } from '../../support/syncing.ts'

let service: Syncing
beforeAll(async () => {
  service = await startSyncing()
})
afterAll(() => service.close())

/** Addresses asked since, as path and query. */
const askedSince = (since: number): Record<string, string>[] =>
  service.host.requests.slice(since).map(({ url, status }) => ({ status: String(status), ...parts(url) }))

function parts(url: string) {
  const { pathname, searchParams } = new URL(url, 'http://x')
  return { path: pathname, ...Object.fromEntries(searchParams) } as Record<string, string>
}

describe('a run', () => {
  test('lists by the numeric id with state=all, at first by creation and without since, then catches up', async () => {
    const { repository, sync } = await service.connected({}, 250)
    const since = service.host.requests.length
    const run = await sync()
    expect(run).toMatchObject({ status: 'completed', fetched: 250, issues: { created: 200 } })
    expect(sumOf(run)).toBe(250)

    const asked = askedSince(since)
    expect(new Set(asked.map(({ path }) => path))).toEqual(new Set([`/repositories/${repository.id}/issues`]))
    expect(asked.every(({ state }) => state === 'all')).toBe(true)
    const listing = asked.filter(({ sort }) => sort === 'created')
    expect(listing.map(({ page = '1' }) => page)).toEqual(['1', '2', '3'])
    expect(listing.every((query) => query.since === undefined)).toBe(true)
    expect(asked.at(-1)).toMatchObject({ sort: 'updated', direction: 'asc', since: expect.any(String) })
  })

  test('sends the API version and the token with every request', async () => {
    service.host.tokens.set('good', {})
    const { repository, sync } = await service.connected({ token: 'good' }, 1)
    await sync()
    const own = service.host.requests.filter(({ url }) => url.includes(String(repository.id)))
    expect(own.length).toBeGreaterThan(2)
    for (const { headers } of own) {
      expect(headers['x-github-api-version']).toMatch(/^\d{4}-\d\d-\d\d$/)
      expect(headers.authorization).toBe('token good')
      expect(headers['user-agent']).toContain('inlet')
    }
  })

  test('over an unchanged repository takes one request, which returns 304, to exactly the same URL', async () => {
    const { sync } = await service.connected({}, 120)
    await sync()
    const last = service.host.requests.at(-1)?.url
    for (let i = 0; i < 2; i++) {
      const since = service.host.requests.length
      expect(await sync()).toMatchObject({ status: 'completed', fetched: 0 })
      expect(service.asked(since)).toEqual([`304 ${last}`])
    }
  })

  test('over an empty repository takes one request as well, and sees the first issue', async () => {
    const { repository, sync } = await service.connected()
    expect(await sync()).toMatchObject({ status: 'completed', fetched: 0 })
    const since = service.host.requests.length
    expect(await sync()).toMatchObject({ status: 'completed', fetched: 0 })
    expect(askedSince(since)).toEqual([expect.objectContaining({ status: '304' })])
    repository.issue()
    expect(await sync()).toMatchObject({ fetched: 1, issues: { created: 1 } })
  })

  test('after the first requests what changed since, and moves since after each page', async () => {
    const { repository, sync } = await service.connected({}, 300)
    await sync()
    for (let number = 1; number <= 250; number++) repository.change(number, { title: `New ${number}` }, 60)
    const since = service.host.requests.length
    const run = await sync()
    expect(run.issues.updated + run.pullRequests.updated).toBe(250)
    expect(sumOf(run)).toBe(run.fetched)
    const asked = askedSince(since)
    expect(
      asked.every(({ sort, direction, page }) => sort === 'updated' && direction === 'asc' && !page),
    ).toBe(true)
    const anchors = asked.map((query) => query.since ?? '')
    expect(anchors.length).toBeGreaterThan(2)
    expect(new Set(anchors).size).toBe(anchors.length)
    expect([...anchors].sort()).toEqual(anchors)
  })

  test('follows the link when a whole page has one timestamp', async () => {
    const { project, repository, sync } = await service.connected({}, 350)
    await sync()
    service.host.advance(60)
    for (let number = 1; number <= 350; number++) repository.change(number, { title: 'Same second' }, 0)
    const run = await sync()
    expect(run.issues.updated + run.pullRequests.updated).toBe(350)
    const titles = [...(await service.tasksOf(project.id)).values()].map(({ title }) => title)
    expect(new Set(titles)).toEqual(new Set(['Same second']))
    // The last address is a page further on; when it has changed, what lies before it has moved.
    repository.change(7, { title: 'Later' })
    repository.change(8, { title: 'Later' })
    expect(await sync()).toMatchObject({ status: 'completed' })
    const after = await service.tasksOf(project.id)
    expect([after.get(7).title, after.get(8).title]).toEqual(['Later', 'Later'])
  })

  test('sees what changed between two pages, and counts nothing twice', async () => {
    const { project, repository, sync } = await service.connected({}, 500)
    let touched = 0
    service.host.onResponse(({ url }) => {
      if (touched < 40 && url.includes(`/${repository.id}/`))
        repository.change(++touched, { title: 'Touched' })
    })
    const run = await sync()
    service.host.onResponse(() => {})
    expect(run).toMatchObject({ status: 'completed', fetched: 500 })
    expect(run.issues.created + run.pullRequests.created).toBe(500)
    expect(sumOf(run)).toBe(500)
    const tasks = await service.tasksOf(project.id)
    for (let number = 1; number < touched; number++) expect(tasks.get(number).title).toBe('Touched')
  })

  test('sees what follows a page that is exactly full', async () => {
    const { project, repository, sync } = await service.connected({}, 1)
    await sync()
    repository.fill(99)
    await sync()
    repository.issue()
    expect(await sync()).toMatchObject({ status: 'completed' })
    expect((await service.tasksOf(project.id)).size).toBe(101)
    const since = service.host.requests.length
    await sync()
    expect(service.asked(since)).toEqual([expect.stringMatching(/^304 /)])
  })

  test('reads pages of many megabytes', async () => {
    const { project, repository, sync } = await service.connected()
    const body = 'ä€x\n"'.repeat(20_000)
    for (let number = 1; number <= 40; number++) repository.issue({ body })
    const run = await sync()
    expect(run).toMatchObject({ status: 'completed', fetched: 40, issues: { created: 40 } })
    const tasks = await service.tasksOf(project.id)
    expect([...tasks.values()].map(({ description }) => description === body)).toEqual(Array(40).fill(true))
  })

  test('continues after page 100, where page numbers are rejected', async () => {
    const { project, repository, sync } = await service.connected()
    for (let number = 1; number <= 10_150; number++) repository.issue({ body: null })
    const run = await sync()
    expect(run).toMatchObject({ status: 'completed', fetched: 10_150, issues: { created: 10_150 } })
    const [row] = await service.query('select count(*)::int as count from tasks where project_id = $1', [
      project.id,
    ])
    expect(row.count).toBe(10_150)
  })

  test('over 10,000 issues, 5 of which change during each page, misses none and doubles none', async () => {
    const { project, repository, sync } = await service.connected()
    for (let number = 1; number <= 10_000; number++) repository.issue({ body: null })
    let next = 0
    service.host.onResponse(({ url }) => {
      if (!url.includes(`/${repository.id}/`) || next >= 2_000) return
      // All over the repository, in pages that were read and pages that were not.
      for (let i = 0; i < 5; i++)
        repository.change(((next++ * 7_919) % 10_000) + 1, { title: `Touch ${next}` })
    })
    const first = await sync()
    const second = await sync()
    service.host.onResponse(() => {})
    await sync()
    expect(first).toMatchObject({ status: 'completed', fetched: 10_000 })
    expect(sumOf(first)).toBe(10_000)
    expect(sumOf(second)).toBe(second.fetched)
    const tasks = await service.tasksOf(project.id)
    expect(tasks.size).toBe(10_000)
    for (const [number, { title }] of repository.items) expect(tasks.get(number).title).toBe(title)
  }, 120_000)

  test('follows a renamed repository by its id, shows the new name, and ignores a new one with the old name', async () => {
    const { project, repository, sync } = await service.connected({}, 3)
    await sync()
    const old = repository.name
    repository.rename('acme/new-name')
    service.host.repository(old).issue({ title: 'Of the impostor' })
    repository.change(1, { title: 'Changed after the rename' })
    expect(await sync()).toMatchObject({ status: 'completed' })
    const tasks = await service.tasksOf(project.id)
    expect(tasks.size).toBe(3)
    expect(tasks.get(1).title).toBe('Changed after the rename')
    const connection = (await service.get(`/api/projects/${project.id}/codehost`)).body
    expect(connection.repository).toBe('acme/new-name')
  })
})
