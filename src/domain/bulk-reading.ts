import { createHash } from 'node:crypto'
import { AppError, type ErrorCode, type Extras } from '../errors/index.ts'
import { freeBytes } from '../lib/free-bytes.ts'
import { jsonScan, type Span } from '../lib/json-scan.ts'
import { BulkTasks } from '../schemas/bulk.ts'
import { NewTaskInBulk } from '../schemas/task-requests.ts'
import { parseJson } from './json-text.ts'
import { checkCompiler } from './validation/checks.ts'

/** An AppError as it is sent between threads: a copy of the error itself would lose its class. */
export interface SentError {
  code: ErrorCode
  detail: string
  extras: Extras
}

export const refusalFrom = ({ code, detail, extras }: SentError) => new AppError(code, { detail, ...extras })

/** A valid item as the position of its JSON, or the error of an invalid one. */
type ReadItem = { span: Span; isLonger: boolean } | { refusal: SentError }

export interface BulkReading {
  listId: string
  items: ReadItem[]
  /** The bytes of the request, overwritten with the JSON of the checked items. */
  json: Uint8Array
  /** The JSON of items that are longer after the check, which trims and normalizes them. */
  longer: Uint8Array
  /** Of the whole request, independent of the white space in and between valid items. */
  hash: string
}

/** A batch that was read in another thread. Items are parsed one at a time, on access. */
export interface LargeBody {
  hash: string
  itemAt(index: number): { item: unknown; refusal: AppError | undefined }
  /** Frees its memory: no item can be read after that. */
  free(): void
}

export function largeBodyOf({ hash, items, json, longer }: BulkReading): LargeBody {
  return {
    hash,
    itemAt(index) {
      const read = items[index]
      if (!read) throw new Error(`The batch has no item ${index}.`)
      if ('refusal' in read) return { item: undefined, refusal: refusalFrom(read.refusal) }
      const { start, end } = read.span
      const text = asBuffer(read.isLonger ? longer : json).toString('utf8', start, end)
      return { item: JSON.parse(text), refusal: undefined }
    },
    free() {
      freeBytes(json)
      freeBytes(longer)
    },
  }
}

let checks: { ofBody: Check; ofItem: Check } | undefined
type Check = ReturnType<ReturnType<typeof checkCompiler>>

/** Parses and checks a batch item by item, so that at most one of them is in memory as objects at a time. */
export function readBulk(bytes: Uint8Array): BulkReading | { refusal: SentError } {
  try {
    return read(asBuffer(bytes))
  } catch (error) {
    if (error instanceof AppError) return { refusal: sent(error) }
    throw error
  }
}

function read(body: Buffer): BulkReading {
  if (!checks) {
    // Defaults are set later, by the service.
    const compile = checkCompiler({ coerceTypes: false, useDefaults: false })
    checks = { ofBody: compile(BulkTasks), ofItem: compile(NewTaskInBulk) }
  }
  const scan = jsonScan({ maxValues: Number.POSITIVE_INFINITY, itemsOf: 'tasks' })
  scan.push(body)

  const outline = parseJson(outlineOf(body, scan.items))
  const refusal = checks.ofBody(outline, (pointer) => pointer)
  const longer: Buffer[] = []
  const items: ReadItem[] = []
  // Only checked values are serialized: JSON.stringify is recursive, and unchecked ones can be nested without limit.
  const hash = createHash('sha256').update(refusal ? '' : JSON.stringify(outline))
  let longerSize = 0
  for (const [index, { start, end }] of scan.items.entries()) {
    const item = parseJson(body.subarray(start, end), `in item ${index} of tasks: `)
    const itemRefusal = checks.ofItem(item, (pointer) => `/tasks/${index}${pointer}`)
    if (itemRefusal) {
      hash.update(body.subarray(start, end))
      items.push({ refusal: sent(itemRefusal) })
      continue
    }
    // Written over the item where it fits, which it mostly does: a copy of all items would double the memory.
    const text = Buffer.from(JSON.stringify(item))
    hash.update(text)
    const isLonger = text.length > end - start
    const place = isLonger ? longerSize : start
    items.push({ span: { start: place, end: place + text.length }, isLonger })
    if (isLonger) {
      longer.push(text)
      longerSize += text.length
    } else {
      body.set(text, start)
    }
  }
  if (refusal) throw refusal
  const { listId, tasks } = outline as { listId: string; tasks: number[] }
  // The last of repeated members counts, as with JSON.parse.
  return {
    listId,
    items: tasks.map((place) => items[place] as ReadItem),
    json: body,
    longer: joined(longer, longerSize),
    hash: hash.digest('hex'),
  }
}

/** The body with each item replaced by its number: small, and valid JSON if the body is. */
function outlineOf(body: Buffer, items: readonly Span[]): Buffer {
  const parts = items.flatMap(({ start }, index) => [
    body.subarray(items[index - 1]?.end ?? 0, start),
    Buffer.from(String(index)),
  ])
  return Buffer.concat([...parts, body.subarray(items.at(-1)?.end ?? 0)])
}

/** In memory of its own, which can be transferred to another thread. */
function joined(texts: Buffer[], size: number): Uint8Array {
  const json = new Uint8Array(size)
  let offset = 0
  for (const text of texts) {
    json.set(text, offset)
    offset += text.length
  }
  return json
}

const asBuffer = ({ buffer, byteOffset, byteLength }: Uint8Array) =>
  Buffer.from(buffer, byteOffset, byteLength)

const sent = ({ code, message, extras }: AppError): SentError => ({ code, detail: message, extras })
