import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { startApp } from '../../support/app.ts'
import { type InvalidResponse, startCodeHost } from '../../support/code-host.ts'
import { listenTo } from '../../support/stream.ts'
import { isPage, type Syncing, startSyncing, sumOf } from '../../support/syncing.ts'

let service: Syncing
beforeAll(async () => {
  service = await startSyncing()
})
afterEach(() => {
  service.host.heal()
})
afterAll(() => service.close())

describe('an invalid response', () => {
  const INVALID: [string, InvalidResponse][] = [
    ['a connection that is reset', 'reset'],
    ['a 200 that is cut in the middle of a page', 'cut'],
    [
      'a 200 that is HTML',
      { status: 200, headers: { 'content-type': 'text/html' }, body: '<html>proxy</html>' },
    ],
    ['a 200 that is empty', { status: 200, body: '' }],
    ['a 200 that is half a page of JSON', { status: 200, body: '[{"number":1' }],
    [
      'a 200 that is half a large page',
      { status: 200, body: `[{"number":1,"title":"${'x'.repeat(3 * 1024 * 1024)}"},` },
    ],
    ['a 200 that is no list', { status: 200, body: '{"message":"ok"}' }],
    ['a 200 with something that is no issue', { status: 200, body: '[{"title":"no number"}]' }],
    ['a 502', { status: 502, body: '<html>bad gateway</html>' }],
  ]

  // Runs spend most of their time waiting here, so they wait together.
  let together: Syncing
  beforeAll(async () => {
    together = await startSyncing({ concurrency: 10 })
  })
  afterAll(() => together.close())

  test.concurrent.each(INVALID)(
    '%s is retried three times, a second apart, and then succeeds',
    (_, invalid) => succeedsAfterTwo(together, invalid),
  )

  test.concurrent.each(INVALID)(
    '%s, three times in a row, fails the run with a clear error, and no page is taken for empty',
    (_, invalid) => failsTheRunAfterThree(together, invalid),
  )
})

test('an unexpected empty page does not end the listing', async () => {
  const { sync } = await service.connected({}, 250)
  service.host.fault({ status: 200, body: '[]' }, { times: 2, matches: isPage(2) })
  expect(await sync()).toMatchObject({ status: 'failed', error: { code: 'codehost_unreachable' } })
})

describe('a response that does not arrive in time', () => {
  // The limit is short for these alone: elsewhere a machine that stalls would cause one more timeout.
  let shortTimeout: Syncing
  beforeAll(async () => {
    shortTimeout = await startSyncing({ hostTimeoutMs: 2_000 })
  })
  afterAll(() => shortTimeout.close())

  test.concurrent('is retried three times, a second apart, and then succeeds', () =>
    succeedsAfterTwo(shortTimeout, 'hang'))

  test.concurrent('three times in a row, fails the run with a clear error, and no page is taken for empty', () =>
    failsTheRunAfterThree(shortTimeout, 'hang'))
})

async function succeedsAfterTwo({ host, connected }: Syncing, invalid: InvalidResponse) {
  const { repository, sync } = await connected({}, 250)
  host.fault(invalid, { times: 2, matches: isPage(2, repository) })
  const run = await sync()
  expect(run).toMatchObject({ status: 'completed', fetched: 250, error: null })
  const tries = host.requests.filter(isPage(2, repository))
  expect(tries).toHaveLength(3)
  for (const [earlier, later] of [tries.slice(0, 2), tries.slice(1)]) {
    expect((later?.receivedAt ?? 0) - (earlier?.receivedAt ?? 0)).toBeGreaterThanOrEqual(900)
  }
}

async function failsTheRunAfterThree({ host, connected, tasksOf }: Syncing, invalid: InvalidResponse) {
  const { project, repository, sync } = await connected({}, 250)
  host.fault(invalid, { times: 3, matches: isPage(2, repository) })
  const run = await sync()
  expect(run).toMatchObject({ status: 'failed', fetched: 100, error: { code: 'codehost_unreachable' } })
  expect(run.error.message.length).toBeGreaterThan(60)
  expect(run.error.message).not.toMatch(/127\.0\.0\.1|E[A-Z]{5}|terminated|fetch/)
  expect(sumOf(run)).toBe(100)
  expect((await tasksOf(project.id)).size).toBe(100)
  // And the next run makes up for it.
  expect(await sync()).toMatchObject({ status: 'completed' })
  expect((await tasksOf(project.id)).size).toBe(250)
}

describe('URLs', () => {
  test('a next page on another host is not requested, and the token is not sent there', async () => {
    const elsewhere = await startCodeHost()
    service.host.tokens.set('secret-token', {})
    const { sync } = await service.connected({ token: 'secret-token' }, 3)
    const link = `<${elsewhere.url}/repositories/1/issues?page=2>; rel="next"`
    const isListing = ({ url }: { url: string }) => url.includes('sort=created')
    service.host.fault({ status: 200, headers: { link }, body: '[]' }, { times: 3, matches: isListing })
    const run = await sync()
    expect(run).toMatchObject({ status: 'failed', error: { code: 'codehost_unreachable' } })
    expect(run.error.message).toContain(elsewhere.url)
    expect(elsewhere.requests).toEqual([])
    await elsewhere.close()
  })

  test('a redirect to another host is not followed', async () => {
    const elsewhere = await startCodeHost()
    const { sync } = await service.connected({}, 3)
    const location = `${elsewhere.url}/steal`
    service.host.fault({ status: 302, headers: { location }, body: '' }, { times: 3 })
    expect(await sync()).toMatchObject({ status: 'failed' })
    expect(elsewhere.requests).toEqual([])
    await elsewhere.close()
  })
})

describe('a rejected request', () => {
  test.each<[string, InvalidResponse & object, string, RegExp]>([
    [
      'a token revoked in the middle',
      { status: 401, body: '{"message":"Bad credentials"}' },
      'codehost_token_rejected',
      /token/,
    ],
    [
      'a permission taken away',
      { status: 403, body: '{"message":"Resource not accessible by personal access token"}' },
      'codehost_access_denied',
      /read/,
    ],
    [
      'a repository that is gone',
      { status: 404, body: '{"message":"Not Found"}' },
      'codehost_repository_not_found',
      /repository/,
    ],
    [
      'issues turned off',
      { status: 410, body: '{"message":"Issues are disabled"}' },
      'codehost_access_denied',
      /disabled in this repository/,
    ],
    ['a legal block', { status: 451 }, 'codehost_access_denied', /legal/],
  ])('%s fails the run at once, with an error that says what to do', async (_, invalid, code, words) => {
    const { project, sync } = await service.connected({}, 250)
    service.host.fault(invalid, { times: 5, matches: isPage(2) })
    const since = service.host.requests.length
    const run = await sync()
    expect(run).toMatchObject({ status: 'failed', fetched: 100, error: { code } })
    expect(run.error.message).toMatch(words)
    expect(service.host.requests.slice(since).filter(isPage(2))).toHaveLength(1)
    expect((await service.tasksOf(project.id)).size).toBe(100)
  })
})

describe('a running sync', () => {
  test('reports its progress after every page, in the stream and in the run', async () => {
    const { project, sync } = await service.connected({}, 350)
    const listener = await listenTo(service, { query: `?projectId=${project.id}` })
    const run = await sync()
    const events = await listener.until((all) => all.some(({ event }) => event === 'sync.finished'))
    listener.close()
    const progress = events.filter(({ event }) => event === 'sync.progress')
    expect(progress.every(({ id }) => id === null)).toBe(true)
    expect(progress.map(({ data }) => data.fetched).slice(0, 5)).toEqual([0, 100, 200, 300, 350])
    for (const { data } of progress) expect(sumOf(data)).toBe(data.fetched)
    expect(progress.at(-1)?.data).toMatchObject({ id: run.id, status: 'completed' })
  })

  test.each([
    ['a short one', 0],
    ['one too long for a notice', 250],
  ])('reports its progress after every page on every instance, in order: %s', async (_, deletedHere) => {
    const { project, sync } = await service.connected({}, 350)
    await sync()
    await service.query(
      'update tasks set deleted_at = now() where project_id = $1 and codehost_number <= $2',
      [project.id, deletedHere],
    )
    const other = await startApp({ connectionString: service.connectionString })
    const listener = await listenTo(other, { query: `?projectId=${project.id}` })

    const run = await sync('?mode=full')

    const progressOf = (all: typeof listener.events) => all.filter(({ event }) => event === 'sync.progress')
    const isEnd = ({ data }: { data: { status: string } }) => data.status === 'completed'
    const events = progressOf(await listener.until((all) => progressOf(all).some(isEnd)))
    listener.close()
    await other.close()
    expect(events.at(-1)?.data).toEqual(run)
    const fetched = events.map(({ data }) => data.fetched)
    expect(fetched).toEqual([...fetched].sort((a, b) => a - b))
    if (deletedHere === 0) expect(fetched.slice(0, 5)).toEqual([0, 100, 200, 300, 350])
    expect(run.skipped).toHaveLength(deletedHere)
  })
})
