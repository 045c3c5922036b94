import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { streamed, streamedInTurns } from '../../src/lib/streamed.ts'
import { ownedBy, type WorkOwner, workOwner } from '../../src/lib/work-owner.ts'

const owner = (name: string): WorkOwner => ({ kind: 'caller', name })

/** Pieces that note how many of them are made at the same time. */
function making(counts = { now: 0, most: 0 }) {
  const pieces = async function* (count: number) {
    for (let n = 0; n < count; n++) {
      counts.most = Math.max(counts.most, ++counts.now)
      await nextTurn()
      counts.now--
      yield `${workOwner()?.name}${n} `
    }
  }
  return { counts, pieces }
}

test.each([streamed, streamedInTurns])(
  '%o makes pieces for its owner, whoever reads them',
  async (stream) => {
    const { pieces } = making()
    const made = ownedBy(owner('a'), () => stream(pieces(3)))
    expect(await text(made)).toBe('a0 a1 a2 ')
    expect(await text(stream(pieces(1)))).toBe('undefined0 ')
    expect(await text(ownedBy(owner('a'), () => stream(['x', 'y'])))).toBe('xy')
  },
)

test('streams of one owner make one piece at a time, those of others at the same time', async () => {
  const mine = making()
  const streams = Array.from({ length: 5 }, () => ownedBy(owner('a'), () => streamedInTurns(mine.pieces(4))))
  expect(await Promise.all(streams.map((stream) => text(stream)))).toEqual(Array(5).fill('a0 a1 a2 a3 '))
  expect(mine.counts.most).toBe(1)

  const all = making()
  const others = ['a', 'b', 'c'].map((name) => ownedBy(owner(name), () => streamedInTurns(all.pieces(4))))
  await Promise.all(others.map((stream) => text(stream)))
  expect(all.counts.most).toBe(3)
})

test('streams of one owner let the event loop run, however many there are', async () => {
  let turns = 0
  let isOver = false
  const count = async () => {
    while (!isOver) {
      await nextTurn()
      turns++
    }
  }
  const counting = count()
  /** Each piece takes 4 ms of the processor and waits for nothing. */
  async function* busy() {
    for (let n = 0; n < 5; n++) {
      for (const until = performance.now() + 4; performance.now() < until; );
      yield 'x'
    }
  }
  const streams = Array.from({ length: 10 }, () => ownedBy(owner('a'), () => streamedInTurns(busy())))
  await Promise.all(streams.map((stream) => text(stream)))
  isOver = true
  await counting
  expect(turns).toBeGreaterThan(10)
})

test('a stream that is destroyed, or fails, leaves its turn to the others', async () => {
  let isClosed = false
  async function* endless() {
    try {
      for (;;) {
        await nextTurn()
        yield 'x'
      }
    } finally {
      isClosed = true
    }
  }
  async function* failing() {
    yield 'x'
    throw new Error('failed')
  }
  const [first, second] = ownedBy(owner('a'), () => [streamedInTurns(endless()), streamedInTurns(failing())])
  await once(first as NonNullable<typeof first>, 'data')
  first?.destroy()
  await expect(text(second as NonNullable<typeof second>)).rejects.toThrow('failed')
  const { pieces } = making()
  expect(await text(ownedBy(owner('a'), () => streamedInTurns(pieces(2))))).toBe('a0 a1 ')
  await expect.poll(() => isClosed).toBe(true)
})
