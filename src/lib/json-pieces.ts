import { timeSlices } from './time-slices.ts'

/** The JSON of an object in pieces, each item of the arrays in it alone, so that none of them takes long to make. */
export async function* jsonPieces(object: object): AsyncGenerator<string> {
  const breathe = timeSlices()
  let separator = '{'
  for (const [name, value] of Object.entries(object)) {
    if (value === undefined) continue
    yield `${separator}${JSON.stringify(name)}:`
    separator = ','
    if (!Array.isArray(value)) {
      yield JSON.stringify(value)
      continue
    }
    for (const [index, item] of value.entries()) {
      await breathe()
      yield `${index === 0 ? '[' : ','}${JSON.stringify(item)}`
    }
    yield value.length === 0 ? '[]' : ']'
  }
  yield separator === '{' ? '{}' : '}'
}
