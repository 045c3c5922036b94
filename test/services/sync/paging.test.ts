import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
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

describe('a full reconciliation', () => {
  test('requests missing items one by one; their tasks stay and show what happened', async () => {
    const { project, repository, sync } = await service.connected({}, 30)
    await sync()
    repository.remove(3, 'deleted')
    repository.remove(4, 'transferred')
    repository.remove(5, 'unseen')
    const since = service.host.requests.length
    const run = await sync('?mode=full')
    expect(run).toMatchObject({ status: 'completed', mode: 'full', fetched: 27, gone: 3 })
    expect(sumOf(run)).toBe(27)
    const single = service.asked(since).filter((line) => /issues\/\d+$/.test(line))
    expect(single.map((line) => line.split(' ')[0])).toEqual(['410', '301', '404'])
    const tasks = await service.tasksOf(project.id)
    expect(tasks.size).toBe(30)
    expect([3, 4, 5, 6].map((number) => tasks.get(number).source_state)).toEqual([
      'deleted',
      'transferred',
      'deleted',
      'present',
    ])
    const again = service.host.requests.length
    expect(await sync('?mode=full')).toMatchObject({ gone: 0 })
    expect(service.asked(again).filter((line) => /issues\/\d+$/.test(line))).toEqual([])
  })

  test('stores what the listing missed, and what was restored', async () => {
    const { project, repository, sync } = await service.connected({}, 10)
    await sync()
    repository.remove(2)
    await sync('?mode=full')
    const back = repository.items.get(2)
    if (back) delete back.gone
    const run = await sync('?mode=full')
    expect(run).toMatchObject({ fetched: 10, issues: { updated: 1 } })
    expect((await service.tasksOf(project.id)).get(2).source_state).toBe('present')
  })

  test('finds what changed between two pages of the listing', async () => {
    const { project, repository, sync } = await service.connected({}, 150)
    await sync()
    // Once the first page is out, one of it goes: number 101 moves onto that page unseen.
    service.host.onResponse(({ url }) => {
      if (url.includes('sort=created') && url.includes(`/${repository.id}/`)) repository.remove(50)
    })
    const run = await sync('?mode=full')
    service.host.onResponse(() => {})
    expect(run).toMatchObject({ status: 'completed', fetched: 150, gone: 0 })
    expect((await sync('?mode=full')).gone).toBe(1)
    expect((await service.tasksOf(project.id)).get(101).source_state).toBe('present')
  })

  test('of three items finds that one was deleted', async () => {
    const { project, repository, sync } = await service.connected({}, 3)
    await sync()
    repository.remove(2)
    expect(await sync('?mode=full')).toMatchObject({ status: 'completed', fetched: 2, gone: 1 })
    expect((await service.tasksOf(project.id)).get(2).source_state).toBe('deleted')
    expect(await sync('?mode=full')).toMatchObject({ status: 'completed', gone: 0 })
  })

  test('of a repository whose few items are all deleted finds that they are', async () => {
    const { project, repository, sync } = await service.connected({}, 3)
    await sync()
    for (const number of [1, 2, 3]) repository.remove(number)
    expect(await sync('?mode=full')).toMatchObject({ status: 'completed', fetched: 0, gone: 3 })
    const tasks = await service.tasksOf(project.id)
    expect([...tasks.values()].map(({ source_state }) => source_state)).toEqual(Array(3).fill('deleted'))
    expect(await sync()).toMatchObject({ status: 'completed', fetched: 0 })
  })

  test('is aborted when more than ten and more than a fifth are missing, and changes nothing', async () => {
    const { project, repository, sync } = await service.connected({}, 20)
    await sync()
    for (let number = 1; number <= 11; number++) repository.remove(number)
    const run = await sync('?mode=full')
    expect(run).toMatchObject({
      status: 'failed',
      gone: 0,
      error: { code: 'reconciliation_aborted', message: expect.stringContaining('11 of 20') },
    })
    const tasks = await service.tasksOf(project.id)
    expect([...tasks.values()].every(({ source_state }) => source_state === 'present')).toBe(true)
    expect(tasks.size).toBe(20)
  })

  test('is aborted when the listing becomes empty, and keeps everything', async () => {
    const { project, repository, sync } = await service.connected({}, 20)
    await sync()
    repository.items.clear()
    const run = await sync('?mode=full')
    expect(run).toMatchObject({ status: 'failed', error: { code: 'reconciliation_aborted' } })
    const tasks = await service.tasksOf(project.id)
    expect([...tasks.values()].filter(({ source_state }) => source_state === 'present')).toHaveLength(20)
  })

  test.each([
    ['the whole repository can no longer be seen', 404, 'codehost_repository_not_found'],
    ['its issues are turned off', 410, 'codehost_access_denied'],
  ])('marks nothing as deleted when %s halfway', async (_, status, code) => {
    const { project, repository, sync } = await service.connected({}, 30)
    await sync()
    for (const number of [3, 4, 5]) repository.remove(number)
    let isLost = false
    const hasResponse = ({ url }: { url: string }) => (isLost ||= /issues\/4$/.test(url))
    service.host.fault(
      { status, body: '{"message":"Not to be seen"}' },
      { times: 1_000, matches: hasResponse },
    )
    const run = await sync('?mode=full')
    service.host.heal()
    expect(isLost).toBe(true)
    expect(run).toMatchObject({ status: 'failed', gone: 0, error: { code } })
    const tasks = await service.tasksOf(project.id)
    expect([...tasks.values()].every(({ source_state }) => source_state === 'present')).toBe(true)
    // Once it can be seen again, the next one finds what is really gone.
    expect(await sync('?mode=full')).toMatchObject({ status: 'completed', gone: 3 })
  })

  test('checks many missing items with few requests per hour', async () => {
    const { project, repository, sync } = await service.connected({}, 300)
    await sync()
    for (let number = 1; number <= 50; number++) repository.remove(number)
    let asked = 0
    // After twenty-four it is over for a while, again and again.
    const isTooMany = ({ url }: { url: string }) => /issues\/\d+$/.test(url) && ++asked % 25 === 0
    service.host.fault({ status: 429, headers: { 'retry-after': '1' } }, { times: 1_000, matches: isTooMany })
    const run = await sync('?mode=full')
    await vi.waitFor(
      async () => {
        const { body } = await service.get(`/api/codehost/${project.id}/syncs/${run.id}`)
        expect(body).toMatchObject({ status: 'completed', gone: 50 })
      },
      { timeout: 60_000, interval: 100 },
    )
    service.host.heal()
    expect(asked).toBeGreaterThan(50)
  }, 90_000)
})
