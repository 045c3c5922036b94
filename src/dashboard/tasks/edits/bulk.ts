import { isPassing, Problem, problemOf } from '../../api/problem.ts'
import type { components } from '../../api/schema.gen.ts'

export type Task = components['schemas']['Task']
export type Change = components['schemas']['TaskChange']

/** As many ids as one request takes. */
const MAX_IDS = 100
/** The way to the service fails for a moment; to write the same values twice changes nothing. */
const MAX_ATTEMPTS = 3

/** Tasks that get the same change in one request. */
export interface Batch<T> {
  change: Change
  items: T[]
}

export interface Failure<T> {
  item: T
  problem: Problem
}

export interface Sent<T> {
  done: Task[]
  failures: Failure<T>[]
}

interface BulkIo {
  send(ids: string[], change: Change): Promise<Task[]>
  /** Waits until the service may be asked again, for so many tasks. */
  wait(problem: Problem, count: number): Promise<void>
}

/** The fewest requests that give each item its change: a hundred items each, grouped by what they get. */
export function batchesOf<T>(items: T[], changeOf: (item: T) => Change): Batch<T>[] {
  const groups = Map.groupBy(items, (item) => JSON.stringify(changeOf(item)))
  return [...groups].flatMap(([change, alike]) =>
    Array.from({ length: Math.ceil(alike.length / MAX_IDS) }, (_, index) => ({
      change: JSON.parse(change) as Change,
      items: alike.slice(index * MAX_IDS, (index + 1) * MAX_IDS),
    })),
  )
}

/**
 * Sends batch after batch. A request is all or nothing: what the service names as the reason is left out and the rest
 * sent again. Once the service cannot be reached, nothing more is sent.
 */
export async function sendBatches<T extends { id: string }>(
  batches: Batch<T>[],
  io: BulkIo,
): Promise<Sent<T>> {
  const sent: Sent<T> = { done: [], failures: [] }
  let left = batches.reduce((sum, { items }) => sum + items.length, 0)
  let lost: Problem | undefined
  for (const { change, items } of batches) {
    const problem = lost ?? (await sendBatch(items, change, { ...io, left, sent }))
    if (problem) {
      const known = new Set([...sent.done.map(({ id }) => id), ...sent.failures.map(({ item }) => item.id)])
      for (const item of items) if (!known.has(item.id)) sent.failures.push({ item, problem })
      if (isPassing(problem)) lost = problem
    }
    left -= items.length
  }
  return sent
}

/** Why what is left of the batch was not changed; undefined when nothing is left. */
async function sendBatch<T extends { id: string }>(
  items: T[],
  change: Change,
  { send, wait, left, sent }: BulkIo & { left: number; sent: Sent<T> },
): Promise<Problem | undefined> {
  let rest = items
  for (let attempt = 1; rest.length > 0; ) {
    try {
      sent.done.push(
        ...(await send(
          rest.map(({ id }) => id),
          change,
        )),
      )
      return undefined
    } catch (error) {
      const problem = problemOf(error)
      const refused = refusedOf(problem, rest)
      if (refused.length > 0) {
        sent.failures.push(...refused)
        rest = rest.filter((one) => !refused.some(({ item }) => item === one))
      } else {
        const mayTryAgain =
          problem.status === 429 || (isPassing(problem) && problem.status !== 401 && attempt++ < MAX_ATTEMPTS)
        if (!mayTryAgain) return problem
        await wait(problem, left)
      }
    }
  }
  return undefined
}

/** The items whose ids the service names, each with its own reason. */
function refusedOf<T>(problem: Problem, items: T[]): Failure<T>[] {
  const reasons = new Map<T, Problem>()
  for (const { path, code, message } of problem.body.errors ?? []) {
    const item = items[Number(/^\/ids\/(\d+)$/.exec(path)?.[1] ?? Number.NaN)]
    if (item) reasons.set(item, new Problem(problem.status, { code, detail: message }))
  }
  return [...reasons].map(([item, reason]) => ({ item, problem: reason }))
}
