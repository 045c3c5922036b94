import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { bodyIntake } from '../../src/lib/body-intake.ts'

const tooLarge = new Error('too large')
const stalled = new Error('stalled')
const full = new Error('full')

function given(options: { maxTotalBytes?: number; stallMs?: number; slowMs?: number } = {}) {
  const refusals = { tooLarge: () => tooLarge, stalled: () => stalled, full: () => full }
  return bodyIntake({ maxTotalBytes: 100, stallMs: 60_000, refusals, ...options })
}

/** A body of which so many bytes have come. */
async function begun(intake: ReturnType<typeof given>, bytes: number, maxBytes = 1_000) {
  const stream = new PassThrough()
  const body = intake.receive(stream, maxBytes)
  const outcome = body.then(
    (bytes) => bytes.length,
    (error) => error,
  )
  stream.write(Buffer.alloc(bytes))
  await sleep(1)
  return { stream, outcome }
}

test('a body that is complete arrives whole, and its room is free again', async () => {
  const intake = given()
  const { stream, outcome } = await begun(intake, 60)
  expect(intake.totalBytes()).toBe(60)
  stream.end(Buffer.alloc(30))
  expect(await outcome).toBe(90)
  expect(intake.totalBytes()).toBe(0)
})

test('a body over its limit is refused, and the stream stays open for the answer', async () => {
  const { stream, outcome } = await begun(given(), 60, 50)
  expect(await outcome).toBe(tooLarge)
  expect(stream.destroyed).toBe(false)
})

test('what still comes of a refused body is thrown away, so that the next one has its turn', async () => {
  const { stream, outcome } = await begun(given(), 60, 50)
  expect(await outcome).toBe(tooLarge)
  const ended = once(stream, 'end')
  stream.end(Buffer.alloc(1_000_000))
  await ended
})

test('a body that stops arriving is refused; one that goes on slowly is not', async () => {
  const intake = given({ stallMs: 200 })
  const silent = await begun(intake, 10)
  const slow = await begun(intake, 10)
  for (let i = 0; i < 5; i++) {
    await sleep(100)
    slow.stream.write('more')
  }
  expect(await Promise.race([silent.outcome, 'waits'])).toBe(stalled)
  slow.stream.end()
  expect(await slow.outcome).toBe(30)
  expect(intake.totalBytes()).toBe(0)
})

test('when there is no room, the slowest gives way to who still sends', async () => {
  const intake = given({ slowMs: 50 })
  const slowest = await begun(intake, 50)
  const slow = await begun(intake, 40)
  await sleep(60)
  const quick = await begun(intake, 60)
  quick.stream.end()
  expect([await slowest.outcome, await quick.outcome]).toEqual([stalled, 60])
  slow.stream.end()
  expect(await slow.outcome).toBe(40)
})

test('when there is no room and nobody is slow, the newcomer is refused', async () => {
  const intake = given()
  const first = await begun(intake, 80)
  expect(await (await begun(intake, 30)).outcome).toBe(full)
  first.stream.end()
  expect(await first.outcome).toBe(80)
  expect(intake.totalBytes()).toBe(0)
})

test('a connection that breaks frees the room', async () => {
  const intake = given()
  const { stream, outcome } = await begun(intake, 80)
  stream.destroy(new Error('reset'))
  expect(await outcome).toBeInstanceOf(Error)
  expect(intake.totalBytes()).toBe(0)
})
