import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { responseBudget } from '../../src/lib/response-budget.ts'

const KIB = 1024
const given = ({ slowMs = 60_000, maxHolderKib = 1_000 } = {}) =>
  responseBudget({ maxTotalBytes: 1_000 * KIB, maxHolderBytes: maxHolderKib * KIB, slowMs })
const [MINE, YOURS] = [{ holder: 'a key' }, { holder: 'another key' }]
const some = (kib: number) => Buffer.alloc(kib * KIB, 'some ')

test('a body arrives as it is, and its room is free again', async () => {
  const budget = given()
  const stream = budget.send(some(600), MINE) as Readable
  expect(budget.totalBytes()).toBe(600 * KIB)
  expect((await buffer(stream)).equals(some(600))).toBe(true)
  expect(budget.totalBytes()).toBe(0)
})

test('the room is free when the reader disconnects, and counted once', async () => {
  const budget = given()
  const stream = budget.send(some(600), MINE) as Readable
  stream.destroy()
  await once(stream, 'close')
  expect(budget.totalBytes()).toBe(0)
})

test('a body for which there is no room is refused, and a larger one than all room is sent alone', async () => {
  const budget = given()
  const large = budget.send(some(1_200), MINE) as Readable
  expect(large).toBeDefined()
  expect(budget.send(some(300), MINE)).toBeUndefined()
  await buffer(large)
  expect(budget.send(some(600), MINE)).toBeDefined()
  expect(budget.send(some(600), MINE)).toBeUndefined()
  expect(budget.send(some(400), MINE)).toBeDefined()
})

test('what must be sent is sent, and counts', () => {
  const budget = given()
  budget.send(some(600), MINE)
  expect(budget.send(some(600), { ...MINE, mayExceed: true })).toBeDefined()
  expect(budget.totalBytes()).toBe(1_200 * KIB)
})

test('when the room is needed, readers without progress are cut, and others are not', async () => {
  const budget = given({ slowMs: 500 })
  const unread = budget.send(some(500), MINE) as Readable
  const cut = once(unread, 'error')
  const read = budget.send(some(500), MINE) as Readable
  await sleep(600)
  // Of the reader's stream a piece is taken; what it was read in advance is not counted as taken by it.
  for (let i = 0; i < 2; i++) {
    await new Promise((resolve) => setImmediate(resolve))
    read.read()
  }
  expect(budget.send(some(500), MINE)).toBeDefined()
  await cut
  expect(unread.destroyed).toBe(true)
  expect(read.destroyed).toBe(false)
  expect(budget.totalBytes()).toBe(1_000 * KIB)
})

test('no reader is cut while there is room', async () => {
  const budget = given({ slowMs: 1 })
  const unread = budget.send(some(500), MINE) as Readable
  await sleep(20)
  budget.send(some(500), MINE)
  expect(unread.destroyed).toBe(false)
})

test('a holder is limited to its share, and others have the rest', async () => {
  const budget = given({ maxHolderKib: 400 })
  const first = budget.send(some(300), MINE) as Readable
  expect(budget.send(some(300), MINE)).toBeUndefined()
  expect(budget.send(some(300), YOURS)).toBeDefined()
  await buffer(first)
  const large = budget.send(some(600), MINE)
  expect(large).toBeDefined()
  expect(budget.totalBytes()).toBe(900 * KIB)
})

test('for the share of a holder only its own unread bodies are cut', async () => {
  const budget = given({ slowMs: 1, maxHolderKib: 400 })
  const yours = budget.send(some(300), YOURS) as Readable
  const mine = budget.send(some(300), MINE) as Readable
  const cut = once(mine, 'error')
  await sleep(20)
  expect(budget.send(some(300), MINE)).toBeDefined()
  await cut
  expect(yours.destroyed).toBe(false)
})
