import { collectRecentGarbage } from './collect-garbage.ts'
import { timeSlices } from './time-slices.ts'

/** So many characters of pieces that were taken may be garbage: V8 alone would let 50 MB of them and their bytes accumulate. */
const MAX_GARBAGE_LENGTH = 2 * 1024 * 1024

/**
 * Serializes an object in pieces, one per array item, so that no piece takes long to serialize. Items of an async iterable
 * are taken as they are needed.
 */
export async function* jsonPieces(object: object): AsyncGenerator<string> {
  const breathe = timeSlices()
  let separator = '{'
  let garbageLength = 0
  for (const [name, value] of Object.entries(object)) {
    if (value === undefined) continue
    yield `${separator}${JSON.stringify(name)}:`
    separator = ','
    if (!isList(value)) {
      yield JSON.stringify(value)
      continue
    }
    let count = 0
    for await (const item of value) {
      await breathe()
      const piece = `${count++ === 0 ? '[' : ','}${JSON.stringify(item)}`
      yield piece
      garbageLength += piece.length
      if (garbageLength < MAX_GARBAGE_LENGTH) continue
      collectRecentGarbage()
      garbageLength = 0
    }
    yield count === 0 ? '[]' : ']'
  }
  yield separator === '{' ? '{}' : '}'
}

const isList = (value: unknown): value is unknown[] | AsyncIterable<unknown> =>
  Array.isArray(value) || (typeof value === 'object' && value !== null && Symbol.asyncIterator in value)

/** Joins pieces to parts of at least `minLength` characters; only the last one may be shorter. */
export async function* joinPieces(pieces: AsyncIterable<string>, minLength: number): AsyncGenerator<string> {
  let part = ''
  for await (const piece of pieces) {
    part += piece
    if (part.length < minLength) continue
    yield part
    part = ''
  }
  if (part !== '') yield part
}
