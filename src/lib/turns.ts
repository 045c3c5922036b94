import type { TimeShares } from './time-shares.ts'

interface TurnsOptions {
  shares: Pick<TimeShares, 'usedMs' | 'overForMs'>
  /** Maximum of bytes that wait; a single job may be larger. */
  maxWaitingBytes: number
  /** The same for one owner. */
  maxOwnerBytes: number
  /** The error of a job that would wait beyond that. */
  refusal(): Error
}

export interface TurnRequest {
  owner: string
  bytes: number
  /** Whether it waits its turn even if its owner has used up its share. */
  mustRun: boolean
}

/** The owner of a job has used up its share. */
export interface Over {
  overForMs: number
}

export const isOver = <T extends object>(result: T | Over): result is Over => 'overForMs' in result

interface Waiting extends TurnRequest {
  start(): Promise<void>
  refuse(over: Over): void
}

/** An owner whose waiting jobs are too many may try again after this. */
const FULL_MS = 1_000

/**
 * Runs jobs of several owners, one at a time. The next is of the owner who has used the least time lately, so that a busy
 * owner delays another by one job at most.
 */
export function turns({ shares, maxWaitingBytes, maxOwnerBytes, refusal }: TurnsOptions) {
  let waiting: Waiting[] = []
  let isRunning = false

  /** A job that need not run returns how long its owner has to wait, instead of running, if that is over its share. */
  return async function take<T extends object>(
    request: TurnRequest,
    work: () => Promise<T>,
  ): Promise<T | Over> {
    const { owner, bytes, mustRun } = request
    const own = waiting.filter((job) => job.owner === owner)
    if (own.length > 0 && bytesOf(own) + bytes > maxOwnerBytes) {
      if (mustRun) throw refusal()
      return { overForMs: FULL_MS }
    }
    if (waiting.length > 0 && bytesOf(waiting) + bytes > maxWaitingBytes) throw refusal()
    const { promise, resolve, reject } = Promise.withResolvers<T | Over>()
    waiting.push({ ...request, refuse: resolve, start: () => work().then(resolve, reject) })
    startNext()
    return promise
  }

  function startNext(): void {
    refuseOver()
    if (isRunning) return
    const usedMs = new Map(waiting.map(({ owner }) => [owner, shares.usedMs(owner)]))
    const used = ({ owner }: Waiting) => usedMs.get(owner) ?? 0
    const [first, ...rest] = waiting
    if (!first) return
    const next = rest.reduce((least, job) => (used(job) < used(least) ? job : least), first)
    waiting = waiting.filter((job) => job !== next)
    isRunning = true
    void next.start().finally(() => {
      isRunning = false
      startNext()
    })
  }

  function refuseOver(): void {
    waiting = waiting.filter(({ owner, mustRun, refuse }) => {
      const overForMs = mustRun ? 0 : shares.overForMs(owner)
      if (overForMs > 0) refuse({ overForMs })
      return overForMs === 0
    })
  }
}

const bytesOf = (jobs: Waiting[]) => jobs.reduce((sum, { bytes }) => sum + bytes, 0)
