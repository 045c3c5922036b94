import { collectRecentGarbage } from './collect-garbage.ts'
import { timeSlices } from './time-slices.ts'

/** Garbage of the pieces is collected after this many bytes or characters: V8 alone would let 50 MB of it accumulate. */
const MAX_GARBAGE_LENGTH = 2 * 1024 * 1024

/** Yields pieces of something long: runs the event loop between them, and collects their garbage. */
export async function* pacedPieces<T extends string | Buffer>(
  pieces: Iterable<T> | AsyncIterable<T>,
): AsyncGenerator<T> {
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
