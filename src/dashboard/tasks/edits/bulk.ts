import { isTransient, Problem, problemOf } from '../../api/problem.ts'
import type { components } from '../../api/schema.gen.ts'

export type Task = components['schemas']['TaskListItem']
export type Change = components['schemas']['TaskChange']

/** The API's limit per request. */
const MAX_IDS = 100
/** For transient failures; writing the same values twice is harmless. */
const MAX_ATTEMPTS = 3

/** Tasks with the same change, sent in one request. */
export interface Batch<T> {
  change: Change
  items: T[]
}

export interface Failure<T> {
  item: T
  problem: Problem
}

export interface BulkResult<T> {
  done: Task[]
  failures: Failure<T>[]
}

/** Shows how far a long change is, and stops it. */
export interface BulkProgress {
  update(handled: number): void
  isStopped(): boolean
}

interface BulkIo {
  progress?: BulkProgress | undefined

  send(ids: string[], change: Change): Promise<Task[]>
  /** Waits until the request may be sent again; `count` is the number of tasks left. */
  wait(problem: Problem, count: number): Promise<void>
}

/** Groups items by their change, at most 100 per request. */
export function batchesOf<T>(items: T[], changeOf: (item: T) => Change): Batch<T>[] {
  const groups = Map.groupBy(items, (item) => JSON.stringify(changeOf(item)))
  return [...groups].flatMap(([change, group]) =>
    Array.from({ length: Math.ceil(group.length / MAX_IDS) }, (_, index) => ({
      change: JSON.parse(change) as Change,
      items: group.slice(index * MAX_IDS, (index + 1) * MAX_IDS),
    })),
  )
}

/**
 * Sends batches one by one. A request is all or nothing: items named in the error are omitted and the rest is sent
 * again. Stops when the service is unreachable, or when it is stopped.
 */
export async function sendBatches<T extends { id: string }>(
  batches: Batch<T>[],
  io: BulkIo,
): Promise<BulkResult<T>> {
  const result: BulkResult<T> = { done: [], failures: [] }
  let remaining = batches.reduce((sum, { items }) => sum + items.length, 0)
  let transientProblem: Problem | undefined
  for (const batch of batches) {
    if (io.progress?.isStopped()) break
    const { items } = batch
    const problem = transientProblem ?? (await sendBatch(batch, { ...io, remaining, result }))
    if (problem) {
      const handledIds = new Set([
        ...result.done.map(({ id }) => id),
        ...result.failures.map(({ item }) => item.id),
      ])
      for (const item of items) if (!handledIds.has(item.id)) result.failures.push({ item, problem })
      if (isTransient(problem)) transientProblem = problem
    }
    remaining -= items.length
    io.progress?.update(result.done.length + result.failures.length)
  }
  return result
}

/** Returns the problem of the items that were not changed; undefined when all are handled. */
async function sendBatch<T extends { id: string }>(
  { items, change }: Batch<T>,
  { send, wait, remaining, result }: BulkIo & { remaining: number; result: BulkResult<T> },
): Promise<Problem | undefined> {
  let rest = items
  for (let attempt = 1; rest.length > 0; ) {
    try {
      result.done.push(
        ...(await send(
          rest.map(({ id }) => id),
          change,
        )),
      )
      return undefined
    } catch (error) {
      const problem = problemOf(error)
      const rejected = rejectedItems(problem, rest)
      if (rejected.length > 0) {
        result.failures.push(...rejected)
        rest = rest.filter((one) => !rejected.some(({ item }) => item === one))
      } else {
        const canRetry =
          problem.status === 429 ||
          (isTransient(problem) && problem.status !== 401 && attempt++ < MAX_ATTEMPTS)
        if (!canRetry) return problem
        await wait(problem, remaining)
      }
    }
  }
  return undefined
}

/** The items named in the error, each with its own problem. */
function rejectedItems<T>(problem: Problem, items: T[]): Failure<T>[] {
  const reasons = new Map<T, Problem>()
  for (const { path, code, message } of problem.body.errors ?? []) {
    const item = items[Number(/^\/ids\/(\d+)$/.exec(path)?.[1] ?? Number.NaN)]
    if (item) reasons.set(item, new Problem(problem.status, { code, detail: message }))
  }
  return [...reasons].map(([item, reason]) => ({ item, problem: reason }))
}
