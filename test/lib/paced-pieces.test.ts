import { expect, test } from 'vitest'
import { pacedPieces } from '../../src/lib/paced-pieces.ts'

test('pieces are the same when they are paced, and give way to what is due', async () => {
  const texts = Array.from({ length: 300 }, (_, n) => `${n}`.repeat(10_000))
  let isDue = false
  setImmediate(() => {
    isDue = true
  })
  function* slow() {
    for (const text of texts) {
      const until = performance.now() + 0.2
      while (performance.now() < until);
      if (text === texts.at(-1)) expect(isDue).toBe(true)
      yield text
    }
  }
  const taken: string[] = []
  for await (const piece of pacedPieces(slow())) taken.push(piece)
  expect(taken).toEqual(texts)
})
