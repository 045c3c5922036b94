import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { arrivingChunks } from '../../src/lib/arriving-chunks.ts'
import { allOf } from '../support/all-of.ts'

const STALL_MS = 100
const stalled = () => new Error('stalled')

/** A stream that sends these bytes, one every few milliseconds. */
const dripping = (count: number, everyMs: number) =>
  Readable.from(
    (async function* () {
      for (let i = 0; i < count; i++) {
        await sleep(everyMs)
        yield Buffer.alloc(1)
      }
    })(),
    { objectMode: false },
  )

test('chunks are read to the end', async () => {
  const chunks = arrivingChunks(Readable.from([Buffer.from('a'), Buffer.from('b')]), {
    stallMs: STALL_MS,
    stalled,
  })
  expect((await allOf(chunks)).map(String)).toEqual(['a', 'b'])
})

test('a stream that stalls fails, and stays open', async () => {
  const stream = new Readable({ read() {} })
  stream.push('a')
  const chunks = arrivingChunks(stream, { stallMs: STALL_MS, stalled })
  await chunks.next()
  await expect(chunks.next()).rejects.toThrow('stalled')
  expect(stream.destroyed).toBe(false)
})

test('a stream that only drips fails, too', async () => {
  const chunks = arrivingChunks(dripping(100, 20), { stallMs: STALL_MS, minBytesPerSecond: 1_000, stalled })
  await expect(allOf(chunks)).rejects.toThrow('stalled')
})

test('the time of the reader does not count', async () => {
  const chunks = arrivingChunks(Readable.from([Buffer.from('a'), Buffer.from('b')]), {
    stallMs: STALL_MS,
    stalled,
  })
  const read: string[] = []
  for await (const chunk of chunks) {
    read.push(String(chunk))
    await sleep(2 * STALL_MS)
  }
  expect(read).toEqual(['a', 'b'])
})
