import { isTransient, type Problem, problemOf } from '../api/problem.ts'
import type { components } from '../api/schema.gen.ts'
import type { MappedRow } from './csv-tasks.ts'

type BulkResults = components['schemas']['BulkResults']

interface SentBatch {
  results: BulkResults
  /** Whether this is the response to an earlier request: nothing was created now. */
  isReplay: boolean
}

/** The API's limit per request. */
const MAX_ITEMS = 100
const MAX_ATTEMPTS = 3

/** How far an import is. It can go on from there. */
export interface ImportProgress {
  /** Rows that have a result. */
  done: number
  created: number
  existing: number
  /** Rows of batches that an earlier import sent within 24 hours. */
  replayed: number
  failures: { row: MappedRow['row']; message: string }[]
  /** Why it stopped before the end. */
  problem?: Problem
}

export const NOT_BEGUN: ImportProgress = { done: 0, created: 0, existing: 0, replayed: 0, failures: [] }

interface SendOptions {
  rows: MappedRow[]
  from: ImportProgress
  /** The same for the same file, mapping and list: a batch that is sent again creates nothing twice. */
  importKey: string
  send(tasks: MappedRow['task'][], idempotencyKey: string): Promise<SentBatch>
  wait(problem: Problem): Promise<void>
  isStopped(): boolean
  onProgress(progress: ImportProgress): void
}

/** Creates the tasks of the rows in batches, one after the other. */
export async function sendRows({ rows, from, importKey, ...io }: SendOptions): Promise<ImportProgress> {
  let progress: ImportProgress = { ...from }
  let mayBeSent = from.problem !== undefined
  delete progress.problem
  while (progress.done < rows.length && !io.isStopped()) {
    const batch = rows.slice(progress.done, progress.done + MAX_ITEMS)
    try {
      const tasks = batch.map(({ task }) => task)
      const key = `csv-${importKey}-${progress.done}`
      const { results, isReplay } = await sendBatch(tasks, { ...io, key, mayBeSent })
      mayBeSent = false
      progress = {
        done: progress.done + batch.length,
        created: progress.created + (isReplay ? 0 : results.created),
        existing: progress.existing + (isReplay ? 0 : results.existing),
        replayed: progress.replayed + (isReplay ? batch.length - results.failed : 0),
        failures: [...progress.failures, ...failuresIn(results, batch)],
      }
    } catch (error) {
      const problem = problemOf(error)
      progress = { ...progress, problem }
      io.onProgress(progress)
      return progress
    }
    io.onProgress(progress)
  }
  return progress
}

interface BatchOptions extends Pick<SendOptions, 'send' | 'wait' | 'isStopped'> {
  key: string
  /** Whether this import has sent it, and the response was lost: a replay is then its own. */
  mayBeSent: boolean
}

async function sendBatch(
  tasks: MappedRow['task'][],
  { send, wait, isStopped, key, mayBeSent }: BatchOptions,
): Promise<SentBatch> {
  let isOwn = mayBeSent
  for (let attempt = 1; ; ) {
    try {
      const { results, isReplay } = await send(tasks, key)
      return { results, isReplay: isReplay && !isOwn }
    } catch (error) {
      const problem = problemOf(error)
      isOwn ||= isTransient(problem)
      const isLimited = problem.status === 429
      const mayRetry =
        isLimited || (isTransient(problem) && problem.status !== 401 && attempt++ < MAX_ATTEMPTS)
      if (!mayRetry || isStopped()) throw problem
      await wait(problem)
    }
  }
}

const failuresIn = ({ results }: BulkResults, batch: MappedRow[]): ImportProgress['failures'] =>
  results.flatMap(({ index, status, errors = [] }) => {
    const mapped = batch[index]
    if (status !== 'failed' || !mapped) return []
    const message = errors.map(({ path, message }) => `${path.split('/').at(-1)} ${message}`).join('; ')
    return [{ row: mapped.row, message }]
  })

/** Identifies the content of an import, also without `crypto.subtle`, which only secure contexts have (cyrb53). */
export function contentKey(text: string): string {
  let high = 0xdeadbeef
  let low = 0x41c6ce57
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    high = Math.imul(high ^ code, 2_654_435_761)
    low = Math.imul(low ^ code, 1_597_334_677)
  }
  high = Math.imul(high ^ (high >>> 16), 2_246_822_507) ^ Math.imul(low ^ (low >>> 13), 3_266_489_909)
  low = Math.imul(low ^ (low >>> 16), 2_246_822_507) ^ Math.imul(high ^ (high >>> 13), 3_266_489_909)
  return (4_294_967_296 * (2_097_151 & low) + (high >>> 0)).toString(36)
}
