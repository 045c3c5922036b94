import { LRUCache } from 'lru-cache'
import type { Pool } from 'pg'

/** A task as JSON, and its size as a page counts it. */
export interface CachedTask {
  json: Buffer
  bytes: number
}

export type TaskCache = ReturnType<typeof taskCache>

const CACHE_BYTES = 32 * 1024 * 1024
/** Of an entry, beside its JSON: the key, the buffer, and its place in the cache. */
const ENTRY_BYTES = 600
/** Larger ones are read each time: a few would fill the cache. */
const MAX_TASK_BYTES = 64 * 1024
/** The number of a transaction returns after four billion others. */
const MAX_AGE_MS = 3_600_000

/** Below this share of tasks that were kept, one statement is faster than two. */
const MIN_FOUND = 0.8
/** Among how many pages of a kind one is looked for all the same. */
const TRIES = 16
/** A page of which nothing was kept lowers the share by this part. */
const FALL = 1 / 16

/**
 * Keeps the JSON of tasks that were read, by keys from which the text follows: the id, the number of the transaction
 * that wrote the row (`xmin`, new with each write, whoever makes it), and what other rows and the time say about it.
 */
export function taskCache(pool: Pick<Pool, 'on'>) {
  const tasks = new LRUCache<string, CachedTask>({
    maxSize: CACHE_BYTES,
    maxEntrySize: MAX_TASK_BYTES,
    sizeCalculation: ({ json }) => json.length + ENTRY_BYTES,
    ttl: MAX_AGE_MS,
    ttlResolution: 60_000,
  })
  const shares = new Map<string, { found: number; pages: number }>()
  // The server may have lost transactions that it did not wait for, and uses their numbers again.
  pool.on('connect', (client) => client.on('error', () => tasks.clear()))

  return {
    /**
     * Whether the tasks of a page of this kind are likely to be kept. Of pages from all over a large table, most are not: of
     * such kinds only some pages are looked for, until the tasks of one were kept.
     */
    isWorthwhile(kind: string): boolean {
      const share = shares.get(kind)
      return !share || share.found >= MIN_FOUND || ++share.pages % TRIES === 0
    },

    /** Notes how many of the tasks of a page were kept. The share rises at once, and falls slowly: a start is cold. */
    noteFound(kind: string, { found, expected }: { found: number; expected: number }): void {
      const share = shares.get(kind) ?? { found: 1, pages: 0 }
      const now = found / expected
      share.found = now > share.found ? now : share.found + (now - share.found) * FALL
      shares.set(kind, share)
    },

    get: (key: string): CachedTask | undefined => tasks.get(key),

    set: (key: string, task: CachedTask): void => void tasks.set(key, task),
  }
}
