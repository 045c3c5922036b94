import { collectRecentGarbage } from './collect-garbage.ts'
import { timeSlices } from './time-slices.ts'

/** So many characters of pieces that were taken may be garbage: V8 alone would let 50 MB of them and their bytes accumulate. */
const MAX_GARBAGE_LENGTH = 2 * 1024 * 1024

/** Pieces of a long text on their way out: others have their turn between them, and little garbage accumulates. */
export async function* pacedPieces(pieces: Iterable<string> | AsyncIterable<string>): AsyncGenerator<string> {
  const yieldWhenDue = timeSlices()
  let garbageLength = 0
  for await (const piece of pieces) {
    yield piece
    await yieldWhenDue()
    garbageLength += piece.length
    if (garbageLength < MAX_GARBAGE_LENGTH) continue
    collectRecentGarbage()
    garbageLength = 0
  }
}
