import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { bodyIntake } from '../../src/lib/body-intake.ts'

const tooLarge = new Error('too large')
const stalled = new Error('stalled')
const full = new Error('full')

interface Options {
  maxTotalBytes?: number
  maxHolderBytes?: number
  stallMs?: number
  slowMs?: number
  minBytesPerSecond?: number
}

function given(options: Options = {}) {
  const refusals = { stalled: () => stalled, full: () => full }
  return bodyIntake({ maxTotalBytes: 100, stallMs: 60_000, refusals, ...options })
}

/** A body of which this many bytes have arrived. */
async function begun(
  intake: ReturnType<typeof given>,
  bytes: number,
  { maxBytes = 1_000, holder = 'a' } = {},
) {
  const stream = new PassThrough()
  let release = () => {}
  const outcome = intake.receive(stream, { maxBytes, holder, tooLarge: () => tooLarge }).then(
    (body) => {
      release = body.release
      return body.bytes.length
    },
    (error) => error,
  )
  stream.write(Buffer.alloc(bytes))
  await sleep(1)
  return { stream, outcome, release: () => release() }
}

test('a body that is complete arrives whole, and keeps its room until it is released', async () => {
  const intake = given()
  const { stream, outcome, release } = await begun(intake, 60)
  expect(intake.totalBytes()).toBe(60)
  stream.end(Buffer.alloc(30))
  expect(await outcome).toBe(90)
  expect(intake.totalBytes()).toBe(90)
  expect(await (await begun(intake, 20)).outcome).toBe(full)
  release()
  release()
  expect(intake.totalBytes()).toBe(0)
})

test('a body over its limit is refused, and the stream stays open for the response', async () => {
  const { stream, outcome } = await begun(given(), 60, { maxBytes: 50 })
  expect(await outcome).toBe(tooLarge)
  expect(stream.destroyed).toBe(false)
})

test('the rest of a refused body is discarded, so that the next request is read', async () => {
  const { stream, outcome } = await begun(given(), 60, { maxBytes: 50 })
  expect(await outcome).toBe(tooLarge)
  const ended = once(stream, 'end')
  stream.end(Buffer.alloc(1_000_000))
  await ended
})

test('a body that stops arriving is refused; one that continues slowly is not', async () => {
  const intake = given({ stallMs: 200, minBytesPerSecond: 20 })
  const silent = await begun(intake, 10)
  const slow = await begun(intake, 10)
  for (let i = 0; i < 5; i++) {
    await sleep(100)
    slow.stream.write('more')
  }
  expect(await Promise.race([silent.outcome, 'waits'])).toBe(stalled)
  slow.stream.end()
  expect(await slow.outcome).toBe(30)
  slow.release()
  expect(intake.totalBytes()).toBe(0)
})

test('a body below the minimum rate is refused, however much arrived at first', async () => {
  const intake = given({ stallMs: 200, minBytesPerSecond: 1_000 })
  const { stream, outcome } = await begun(intake, 90)
  const trickle = setInterval(() => stream.write('x'), 50)
  expect(await outcome).toBe(stalled)
  clearInterval(trickle)
  expect(intake.totalBytes()).toBe(0)
})

test('when there is no room, a trickling body is cut too', async () => {
  const intake = given({ slowMs: 50, minBytesPerSecond: 1_000 })
  const { stream, outcome } = await begun(intake, 80)
  const trickle = setInterval(() => stream.write('x'), 10)
  await sleep(150)
  const quick = await begun(intake, 60)
  quick.stream.end()
  clearInterval(trickle)
  expect([await outcome, await quick.outcome]).toEqual([stalled, 60])
})

test('one holder gets a share of the room, and the others get the rest', async () => {
  const intake = given({ maxHolderBytes: 50 })
  const first = await begun(intake, 40)
  first.stream.end()
  expect(await first.outcome).toBe(40)
  expect(await (await begun(intake, 20)).outcome).toBe(full)
  const other = await begun(intake, 50, { holder: 'b' })
  other.stream.end()
  expect(await other.outcome).toBe(50)
  first.release()
  const again = await begun(intake, 20)
  again.stream.end()
  expect(await again.outcome).toBe(20)
})

test('when there is no room, the slowest is cut for one that still sends', async () => {
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
  first.release()
  expect(intake.totalBytes()).toBe(0)
})

test('a connection that breaks frees the room', async () => {
  const intake = given()
  const { stream, outcome } = await begun(intake, 80)
  stream.destroy(new Error('reset'))
  expect(await outcome).toBeInstanceOf(Error)
  expect(intake.totalBytes()).toBe(0)
})
