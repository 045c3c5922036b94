import { createHash } from 'node:crypto'
import type { DeliveryReading } from '../domain/feedback/reading.ts'
import { parseJson } from '../domain/json-text.ts'
import { AppError, type ErrorCode, type Extras } from '../errors/index.ts'
import { freeBytes } from '../lib/free-bytes.ts'
import { jsonScan, type Span } from '../lib/json-scan.ts'
import { BulkTasks } from '../schemas/bulk.ts'
import { NewTaskInBulk } from '../schemas/task.ts'
import { strictChecks } from './validation.ts'

/** An AppError on its way between threads, where it would lose what it is. */
export interface SentRefusal {
  code: ErrorCode
  detail: string
  extras: Extras
}

export const refusalFrom = ({ code, detail, extras }: SentRefusal) => new AppError(code, detail, extras)

/** An item as it may be taken: where its JSON stands, or why it may not. */
type ReadItem = { at: Span; isLonger: boolean } | { refusal: SentRefusal }

export interface BulkReading {
  listId: string
  items: ReadItem[]
  /** What was sent, with the JSON of the checked items written over it. */
  json: Uint8Array
  /** Of those that are longer now. */
  longer: Uint8Array
  /** Of all that was sent, whatever its spaces. */
  hash: string
}

/** What plugins have done in the side thread; `src/worker.ts` does it. */
export type WorkerJobs = {
  readDelivery(bytes: Uint8Array): DeliveryReading
  readBulk(bytes: Uint8Array): Promise<BulkReading | { refusal: SentRefusal }>
}

/** A batch that was read in another thread, item by item as it is asked for. */
export interface LargeBody {
  hash: string
  itemAt(index: number): { item: unknown; refusal: AppError | undefined }
  /** Frees its bytes: no item can be read after that. */
  free(): void
}

export function largeBodyOf({ hash, items, json, longer }: BulkReading): LargeBody {
  return {
    hash,
    itemAt(index) {
      const read = items[index]
      if (!read) throw new Error(`The batch has no item ${index}.`)
      if ('refusal' in read) return { item: undefined, refusal: refusalFrom(read.refusal) }
      const { start, end } = read.at
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
type Check = ReturnType<ReturnType<typeof strictChecks>>

/** Parses and checks a batch, item by item, so that no more than one of them is held as objects at a time. */
export function readBulk(bytes: Uint8Array): BulkReading | { refusal: SentRefusal } {
  try {
    return read(asBuffer(bytes))
  } catch (error) {
    if (error instanceof AppError) return { refusal: sent(error) }
    throw error
  }
}

function read(body: Buffer): BulkReading {
  if (!checks) {
    // What is left out is filled in later.
    const compile = strictChecks({ useDefaults: false })
    checks = { ofBody: compile(BulkTasks), ofItem: compile(NewTaskInBulk) }
  }
  const scan = jsonScan({ maxValues: Number.POSITIVE_INFINITY, itemsOf: 'tasks' })
  scan.push(body)

  const outline = parseJson(outlineOf(body, scan.items))
  const longer: Buffer[] = []
  const items: ReadItem[] = []
  const hash = createHash('sha256').update(JSON.stringify(outline))
  let longerSize = 0
  for (const [index, { start, end }] of scan.items.entries()) {
    const item = parseJson(body.subarray(start, end), `in item ${index} of tasks: `)
    hash.update(JSON.stringify(item) ?? '')
    const refusal = checks.ofItem(item, `/tasks/${index}`)
    if (refusal) {
      items.push({ refusal: sent(refusal) })
      continue
    }
    // Checked and without spaces it mostly has room where it stood: a copy of all of them would double the memory.
    const text = Buffer.from(JSON.stringify(item))
    const isLonger = text.length > end - start
    const place = isLonger ? longerSize : start
    items.push({ at: { start: place, end: place + text.length }, isLonger })
    if (isLonger) {
      longer.push(text)
      longerSize += text.length
    } else {
      body.set(text, start)
    }
  }
  const refusal = checks.ofBody(outline, '')
  if (refusal) throw refusal
  const { listId, tasks } = outline as { listId: string; tasks: number[] }
  // Where the member was written twice, the last one counts.
  return {
    listId,
    items: tasks.map((place) => items[place] as ReadItem),
    json: body,
    longer: joined(longer, longerSize),
    hash: hash.digest('hex'),
  }
}

/** The body with the number of each item in its place: as much JSON as the body is, and small. */
function outlineOf(body: Buffer, items: readonly Span[]): Buffer {
  const parts = items.flatMap(({ start }, index) => [
    body.subarray(items[index - 1]?.end ?? 0, start),
    Buffer.from(String(index)),
  ])
  return Buffer.concat([...parts, body.subarray(items.at(-1)?.end ?? 0)])
}

/** In memory of its own, which can be handed over. */
function joined(texts: Buffer[], size: number): Uint8Array {
  const json = new Uint8Array(size)
  let at = 0
  for (const text of texts) {
    json.set(text, at)
    at += text.length
  }
  return json
}

const asBuffer = ({ buffer, byteOffset, byteLength }: Uint8Array) =>
  Buffer.from(buffer, byteOffset, byteLength)

const sent = ({ code, message, extras }: AppError): SentRefusal => ({ code, detail: message, extras })
