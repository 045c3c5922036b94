import { expect, test } from 'vitest'
import { timeShares } from '../../src/lib/time-shares.ts'
import { turns } from '../../src/lib/turns.ts'

/** Jobs that end when the test says so. */
function given({ maxOwnerBytes = 100, maxWaitingBytes = 100 } = {}) {
  const shares = timeShares({ shareMs: 1_000, windowMs: 10_000, now: () => 0 })
  const refusal = () => new Error('full')
  const take = turns({ shares, maxOwnerBytes, maxWaitingBytes, refusal })
  const started: string[] = []
  const ends = new Map<string, () => void>()
  const add = (name: string, { bytes = 1, mustRun = true } = {}) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    ends.set(name, resolve)
    return take({ owner: name.slice(0, 1), bytes, mustRun }, async () => {
      started.push(name)
      await promise
      return { name }
    })
  }
  const end = async (name: string, ms = 0) => {
    if (ms > 0) shares.record(name.slice(0, 1), ms)
    ends.get(name)?.()
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { add, end, started }
}

test('one job runs at a time, and each returns its result', async () => {
  const { add, end, started } = given()
  const results = [add('a1'), add('a2')]
  expect(started).toEqual(['a1'])
  await end('a1')
  expect(started).toEqual(['a1', 'a2'])
  await end('a2')
  expect(await Promise.all(results)).toEqual([{ name: 'a1' }, { name: 'a2' }])
})

test('the next job is of the owner who has used the least', async () => {
  const { add, end, started } = given()
  for (const name of ['a1', 'a2', 'a3', 'b1', 'c1']) void add(name)
  await end('a1', 500)
  await end('b1', 10)
  await end('c1')
  await end('a2')
  expect(started).toEqual(['a1', 'b1', 'c1', 'a2', 'a3'])
})

test('a job whose owner has used up its share does not run, unless it must', async () => {
  const { add, end, started } = given()
  const refused = [add('a1'), add('a2', { mustRun: false })][1]
  void add('a3')
  await end('a1', 1_000)
  expect(await refused).toEqual({ overForMs: 10_000 })
  expect(await add('a4', { mustRun: false })).toEqual({ overForMs: 10_000 })
  expect(started).toEqual(['a1', 'a3'])
})

test('an owner whose jobs are too many delays no other', async () => {
  const { add } = given({ maxOwnerBytes: 10, maxWaitingBytes: 20 })
  void add('a1')
  void add('a2', { bytes: 9, mustRun: false })
  expect(await add('a3', { bytes: 9, mustRun: false })).toEqual({ overForMs: 1_000 })
  await expect(add('a4', { bytes: 9 })).rejects.toThrow('full')
  void add('b1', { bytes: 9 })
  await expect(add('c1', { bytes: 9 })).rejects.toThrow('full')
})

test('a job that fails does not keep others from running', async () => {
  const shares = timeShares({ shareMs: 1, windowMs: 1 })
  const take = turns({ shares, maxOwnerBytes: 1, maxWaitingBytes: 1, refusal: () => new Error('full') })
  const request = { owner: 'a', bytes: 1, mustRun: true }
  await expect(take(request, () => Promise.reject(new Error('failed')))).rejects.toThrow('failed')
  expect(await take(request, async () => ({ a: 1 }))).toEqual({ a: 1 })
})
