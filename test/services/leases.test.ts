import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { withLease } from '../../src/services/leases.ts'
import { startApp, type TestApp } from '../support/app.ts'

let service: TestApp
beforeAll(async () => {
  service = await startApp()
})
afterAll(() => service.close())

const leases = () => service.repos.leases
const dueIn = async (name: string) => {
  const [row] = await service.query(
    'select extract(epoch from lease_until - now())::float8 as s from leases where name = $1',
    [name],
  )
  return row.s
}

describe('a lease', () => {
  test('is one instance’s until it is released, and then until it is due again', async () => {
    const taken = await Promise.all(Array.from({ length: 8 }, () => leases().take('alone', 60_000)))
    const [lease, ...others] = taken.filter((each) => each !== undefined)
    expect(others).toEqual([])
    if (!lease) throw new Error('nobody has it')
    await leases().release(lease, 60_000)
    expect(await leases().take('alone', 60_000)).toBeUndefined()
    await leases().release(lease, 0)
    expect(await leases().take('alone', 60_000)).toMatchObject({ name: 'alone', lease: 2 })
  })

  test('that has ended is another’s, and its holder can neither renew nor release it', async () => {
    const lost = await leases().take('lost', 0)
    const next = await leases().take('lost', 60_000)
    if (!lost || !next) throw new Error('nobody has it')
    expect(await leases().renew(lost, 60_000)).toBeUndefined()
    await leases().release(lost, 0)
    expect(await leases().take('lost', 60_000)).toBeUndefined()
    expect(await leases().renew(next, 60_000)).toMatchObject({ lease: 2 })
  })

  test('tells the work when it is lost, and not while the database does not respond', async () => {
    const renew = vi
      .fn(async (): Promise<object | undefined> => undefined)
      .mockRejectedValueOnce(new Error('away'))
      .mockResolvedValueOnce({})
    await withLease({ renew, release: async () => {}, renewMs: 1 }, async ({ signal }) => {
      await vi.waitFor(() => expect(signal.aborted).toBe(true), { timeout: 30_000, interval: 1 })
    })
    expect(renew.mock.calls.length).toBeGreaterThanOrEqual(3)
  })

  test('is not renewed once it is released', async () => {
    const calls: string[] = []
    const renew = async () => {
      await sleep(5)
      calls.push('renew')
      return {}
    }
    const release = async () => {
      calls.push('release')
    }
    await withLease({ renew, release, renewMs: 1 }, async (leased) => {
      await vi.waitFor(() => expect(calls).toContain('renew'), { timeout: 30_000, interval: 1 })
      await leased.release(0)
      await sleep(20)
    })
    expect(calls.at(-1)).toBe('release')
  })
})

describe('the cleanup', () => {
  const cleanup = () => service.service.cleanup

  test('is due ten minutes after it has ended, and a minute after it has failed', async () => {
    await service.query('delete from leases')
    await expect(cleanup().whenDue(() => Promise.reject(new Error('failed')))).rejects.toThrow('failed')
    expect(await dueIn('cleanup')).toBeLessThanOrEqual(60)
    await service.query('update leases set lease_until = now()')
    const work = vi.fn(async () => {})
    await Promise.all(Array.from({ length: 5 }, () => cleanup().whenDue(work)))
    expect(work).toHaveBeenCalledTimes(1)
    expect(await dueIn('cleanup')).toBeGreaterThan(500)
  })
})
