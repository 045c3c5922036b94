import { timeSlices } from './time-slices.ts'

/** Yields pieces of something long: runs the event loop between them. */
export async function* pacedPieces<T extends string | Buffer>(
  pieces: Iterable<T> | AsyncIterable<T>,
): AsyncGenerator<T> {
  const yieldWhenDue = timeSlices()
  for await (const piece of pieces) {
    yield piece
    await yieldWhenDue()
  }
}
