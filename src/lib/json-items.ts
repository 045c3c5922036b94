import { jsonScan } from './json-scan.ts'
import { timeSlices } from './time-slices.ts'

interface JsonItemsOptions {
  /** The member of the root object whose array items are replaced. */
  itemsOf: string
  /** Returns what replaces an item. */
  replace(item: never): unknown
}

/** Scanned in one go, about 1 ms. */
const CHUNK_BYTES = 256 * 1024

/**
 * Replaces each item of an array in a JSON object while its text arrives, so that not more than one item is parsed and
 * in memory at a time. The text is valid JSON.
 */
export async function* replaceJsonItems(
  parts: AsyncIterable<string> | Iterable<string>,
  { itemsOf, replace }: JsonItemsOptions,
): AsyncGenerator<string> {
  const scan = jsonScan({ maxValues: Number.POSITIVE_INFINITY, itemsOf })
  const yieldWhenDue = timeSlices()
  /** What was scanned and not yielded yet, from this offset on. */
  let rest = Buffer.alloc(0)
  let restStart = 0
  let count = 0

  const take = (end: number) => {
    const text = rest.toString('utf8', 0, end - restStart)
    rest = rest.subarray(end - restStart)
    restStart = end
    return text
  }
  for await (const part of parts) {
    const bytes = Buffer.from(part)
    for (let offset = 0; offset < bytes.length; offset += CHUNK_BYTES) {
      const chunk = bytes.subarray(offset, offset + CHUNK_BYTES)
      scan.push(chunk)
      rest = Buffer.concat([rest, chunk])
      for (const { start, end } of scan.items.slice(count)) {
        await yieldWhenDue()
        yield take(start) + JSON.stringify(replace(JSON.parse(take(end)) as never))
        count++
      }
    }
  }
  yield rest.toString()
}
