import fc from 'fast-check'
import { type HistoryOptions, play, type Tally } from './history.ts'
import { histories } from './steps.ts'
import { startWorld } from './world.ts'

/** Histories in one world. */
const CHUNK = 100
/** Worlds at a time: while one waits for the database, another works. */
const CONCURRENCY = 2
/** Of shrinking, too: what was found by then is reported. */
const MAX_MS = 60 * 60_000

interface CheckOptions extends HistoryOptions {
  runs: number
  seed: number
  /** Of one failure, to see it again. */
  path: string | undefined
  /** Called after each chunk. */
  onChunk(chunk: { from: number; to: number; seed: number; ms: number; failure: string | undefined }): void
}

/** Plays random histories, a hundred for each seed from the first one on. Returns the failures, and what has happened. */
export async function checkHistories({ runs, seed: first, path, onChunk, ...options }: CheckOptions) {
  const tally: Tally = new Map()
  const failures: string[] = []
  const starts = Array.from({ length: Math.ceil(runs / CHUNK) }, (_, index) => index * CHUNK)
  await Promise.all(
    Array.from({ length: CONCURRENCY }, async () => {
      for (let from = starts.shift(); from !== undefined; from = starts.shift()) {
        const seed = first + from / CHUNK
        const to = Math.min(from + CHUNK, runs)
        const since = performance.now()
        const failure = await checkChunk({ ...options, seed, path, numRuns: to - from }, tally)
        if (failure !== undefined) failures.push(failure)
        onChunk({ from, to, seed, ms: performance.now() - since, failure })
      }
    }),
  )
  return { failures, tally }
}

async function checkChunk(
  {
    seed,
    path,
    numRuns,
    ...options
  }: HistoryOptions & { seed: number; path: string | undefined; numRuns: number },
  tally: Tally,
): Promise<string | undefined> {
  const world = await startWorld()
  const isLossy = options.isSyncedAtEnd
  const property = fc.asyncProperty(
    histories({ projects: options.projects.length, isLossy }),
    async (steps) => {
      const differences = await play(world, { ...options, steps }, tally)
      if (differences.length > 0) throw new Error(differences.join('\n'))
    },
  )
  try {
    const details = await fc.check(property, {
      numRuns,
      seed,
      ...(path && { path }),
      interruptAfterTimeLimit: MAX_MS,
      markInterruptAsFailure: true,
    })
    if (!details.failed) return undefined
    return `${await fc.asyncDefaultReportMessage(details)}\n${(details.errorInstance as Error | null)?.stack}`
  } finally {
    await world.close()
  }
}
