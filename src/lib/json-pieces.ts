/**
 * Serializes an object in pieces, one per array item, so that no piece takes long to serialize. Items of an async iterable
 * are taken as they are needed.
 */
export async function* jsonPieces(object: object): AsyncGenerator<string> {
  let separator = '{'
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
      yield `${count++ === 0 ? '[' : ','}${JSON.stringify(item)}`
    }
    yield count === 0 ? '[]' : ']'
  }
  yield separator === '{' ? '{}' : '}'
}

/** The JSON string of a text, in pieces. A piece of the text has no half of a surrogate pair at its ends. */
export async function* jsonTextPieces(
  texts: Iterable<string> | AsyncIterable<string>,
): AsyncGenerator<string> {
  yield '"'
  for await (const text of texts) yield JSON.stringify(text).slice(1, -1)
  yield '"'
}

const isList = (value: unknown): value is unknown[] | AsyncIterable<unknown> =>
  Array.isArray(value) || (typeof value === 'object' && value !== null && Symbol.asyncIterator in value)
