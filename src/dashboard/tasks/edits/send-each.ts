import { type Problem, problemOf } from '../../api/problem.ts'
import { toast } from '../../components/toast.ts'
import type { Failure } from './bulk.ts'

/** Browsers open six connections to a host; more requests would wait in the browser. */
const CONCURRENCY = 6
/** Fewer are done before anybody could read how many. */
const MIN_ITEMS_WITH_PROGRESS = 20

interface SendEach<T> {
  items: T[]
  send(item: T): Promise<void>
  /** What is being done, such as "Deleting tasks"; shown with the number done. */
  label?: string
}

/**
 * Sends a request per item, a few at a time, and returns what failed. After a rate limit the item is sent again; once
 * the service cannot be reached or the session has ended, nothing more is sent.
 */
export async function sendEach<T>({ items, send, label }: SendEach<T>): Promise<Failure<T>[]> {
  const failures: Failure<T>[] = []
  const waiting = [...items]
  const progress =
    label && items.length >= MIN_ITEMS_WITH_PROGRESS ? toast.progress(label, items.length) : undefined
  let left = items.length
  let pause: Promise<void> | undefined
  let lost: Problem | undefined
  const worker = async () => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) {
      await pause
      const problem = lost ?? (await send(item).then(() => undefined, problemOf))
      if (problem?.status === 429) {
        waiting.push(item)
        pause ??= waitFor(problem, left).then(() => {
          pause = undefined
        })
        continue
      }
      left--
      progress?.update(items.length - left)
      if (problem) failures.push({ item, problem })
      if (problem?.status === 0 || problem?.status === 401) lost = problem
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, worker))
  progress?.end()
  return failures
}

/** Waits for as long as the service asks for, and says so where that is a rate limit. */
export function waitFor(problem: Problem, count: number): Promise<void> {
  const seconds = problem.retryAfterSeconds ?? 1
  if (problem.status === 429) {
    const who = count === 1 ? '1 task waits' : `${count.toLocaleString()} tasks wait`
    toast.done(
      `${who} for the rate limit of your key, for ${seconds} s. Keep this page open.`,
      seconds * 1_000,
    )
  }
  return new Promise((resolve) => setTimeout(resolve, seconds * 1_000))
}
