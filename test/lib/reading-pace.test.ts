import { expect, test } from 'vitest'
import { readingPace } from '../../src/lib/reading-pace.ts'

/** What a reader is found to be at each look, a second apart, when so many bytes wait and so many were taken. */
function looks(states: { waiting: number; taken: number }[]) {
  const { isTooSlow } = readingPace({ windowMs: 2_000, minBytes: 100 })
  const socket = { bytesWritten: 0, writableLength: 0 }
  return states.map(({ waiting, taken }, second) => {
    socket.bytesWritten = taken + waiting
    socket.writableLength = waiting
    return isTooSlow(socket, second * 1_000)
  })
}

test('a reader who takes a few bytes in a window is too slow', () => {
  const trickle = [0, 1, 2].map((taken) => ({ waiting: 1_000, taken }))
  expect(looks(trickle)).toEqual([false, false, true])
})

test('a reader who takes enough is not, however long it lasts', () => {
  const steady = Array.from({ length: 9 }, (_, n) => ({ waiting: 1_000, taken: 60 * n }))
  expect(looks(steady)).not.toContain(true)
})

test('a reader for whom nothing waits is not, however little arrives', () => {
  const idle = Array.from({ length: 9 }, (_, n) => ({ waiting: 0, taken: n }))
  expect(looks(idle)).not.toContain(true)
  expect(
    looks([
      { waiting: 5, taken: 0 },
      { waiting: 0, taken: 5 },
      { waiting: 5, taken: 5 },
    ]),
  ).not.toContain(true)
})
