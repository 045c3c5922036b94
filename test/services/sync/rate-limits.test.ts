import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import type { InvalidResponse } from '../../support/code-host.ts'
import { isPage, type Syncing, startSyncing } from '../../support/syncing.ts'

let service: Syncing
beforeAll(async () => {
  service = await startSyncing()
})
// A rate limit pauses all that use the token, and here nobody has one.
const endPauses = () => service.query('delete from codehost_write_limits')
afterEach(async () => {
  service.host.heal()
  await endPauses()
})
afterAll(() => service.close())

const POLLING = { timeout: 30_000, interval: 50 }

describe('rate limits', () => {
  const LIMITS: [string, InvalidResponse & object, number][] = [
    ['a 403 with nothing remaining', { status: 403, headers: { 'x-ratelimit-remaining': '0' } }, 3_000],
    ['a 429', { status: 429 }, 50],
    [
      'a secondary limit with Retry-After',
      {
        status: 403,
        headers: { 'retry-after': '90' },
        body: '{"message":"You have exceeded a secondary rate limit."}',
      },
      89,
    ],
    [
      'one without any header',
      { status: 403, body: '{"message":"You have exceeded a secondary rate limit."}' },
      50,
    ],
  ]

  test.each(LIMITS)(
    '%s reschedules the run, and the next POST returns it',
    async (_, invalid, atLeastSeconds) => {
      const { project, sync } = await service.connected({}, 250)
      service.host.fault(invalid, { matches: isPage(2) })
      const run = await sync()
      expect(run).toMatchObject({ status: 'rate_limited', fetched: 100, error: null, finishedAt: null })
      expect(Date.parse(run.retryAt) - Date.now()).toBeGreaterThan(atLeastSeconds * 1000)

      const next = await service.post(`/api/codehost/${project.id}/sync`)
      expect([next.status, next.body.code]).toEqual([409, 'sync_in_progress'])
      expect(next.body).toMatchObject({ runId: run.id, retryAt: run.retryAt })
    },
  )

  test('the run resumes at its position after the wait', async () => {
    const { project, sync } = await service.connected({}, 250)
    service.host.fault({ status: 429, headers: { 'retry-after': '1' } }, { matches: isPage(2) })
    const since = service.host.requests.length
    const run = await sync()
    expect(run.status).toBe('rate_limited')
    await vi.waitFor(async () => {
      const { body } = await service.get(`/api/codehost/${project.id}/syncs/${run.id}`)
      expect(body).toMatchObject({ status: 'completed', fetched: 250, retryAt: null })
    }, POLLING)
    const first = service.host.requests
      .slice(since)
      .filter(({ url }) => /sort=created/.test(url) && !/&page=/.test(url))
    expect(first).toHaveLength(1)
  })

  test('of another run with the same token stop this one before its next page', async () => {
    service.host.tokens.set('shared-token', {})
    const [{ repository, sync }, other] = await Promise.all([
      service.connected({ token: 'shared-token' }, 250),
      service.connected({ token: 'shared-token' }, 1),
    ])
    const isOthers = ({ url }: { url: string }) => url.includes(`/repositories/${other.repository.id}/`)
    service.host.fault({ status: 429 }, { matches: isOthers })
    // While the first page is on its way.
    service.host.onResponse(async ({ url }) => {
      if (!url.includes(`/repositories/${repository.id}/issues`) || !url.includes('sort=created')) return
      service.host.onResponse(() => {})
      expect(await other.sync()).toMatchObject({ status: 'rate_limited' })
    })
    expect(await sync()).toMatchObject({ status: 'rate_limited', fetched: 100 })
    expect(service.host.requests.filter(isPage(2, repository))).toEqual([])
  })

  test('without a reset time, the waits grow', async () => {
    const { project, sync } = await service.connected({}, 50)
    service.host.fault({ status: 429 }, { times: 2 })
    const first = await sync()
    await endPauses()
    await service.query('update sync_runs set retry_at = now() where id = $1', [first.id])
    const second = await vi.waitFor(async () => {
      const { body } = await service.get(`/api/codehost/${project.id}/syncs/${first.id}`)
      expect(Date.parse(body.retryAt) - Date.now()).toBeGreaterThan(100_000)
      return body
    }, POLLING)
    expect(second.status).toBe('rate_limited')
  })

  test('a host without limits works, and the limits of another are shown', async () => {
    const { sync } = await service.connected({}, 3)
    expect((await sync()).rateLimit).toMatchObject({
      remaining: expect.any(Number),
      resetAt: expect.any(String),
    })
    const silent = await startSyncing()
    silent.host.hideLimits()
    const other = await silent.connected({}, 3)
    expect(await other.sync()).toMatchObject({ status: 'completed', rateLimit: null })
    await silent.close()
  })
})
