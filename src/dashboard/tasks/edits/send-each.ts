import { type Problem, problemOf } from '../../api/problem.ts'
import { toast } from '../../components/toast.ts'
import type { Failure } from './bulk.ts'

/** Browsers open six connections to one host. */
const CONCURRENCY = 6
/** Fewer items complete before the progress could be read. */
const MIN_ITEMS_WITH_PROGRESS = 20

interface SendEach<T> {
  items: T[]
  send(item: T): Promise<void>
  /** For example "Deleting tasks"; shown with the progress. */
  label?: string
}

/**
 * Sends one request per item with limited concurrency and returns the failures. Rate-limited requests are repeated;
 * nothing more is sent once the service is unreachable or the session has ended.
 */
export async function sendEach<T>({ items, send, label }: SendEach<T>): Promise<Failure<T>[]> {
  const failures: Failure<T>[] = []
  const queue = [...items]
  const progress =
    label && items.length >= MIN_ITEMS_WITH_PROGRESS ? toast.progress(label, items.length) : undefined
  let remaining = items.length
  let pause: Promise<void> | undefined
  let lost: Problem | undefined
  const worker = async () => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) {
      await pause
      const problem = lost ?? (await send(item).then(() => undefined, problemOf))
      if (problem?.status === 429) {
        queue.push(item)
        pause ??= waitToRetry(problem, remaining).then(() => {
          pause = undefined
        })
        continue
      }
      remaining--
      progress?.update(items.length - remaining)
      if (problem) failures.push({ item, problem })
      if (problem?.status === 0 || problem?.status === 401) lost = problem
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, worker))
  progress?.end()
  return failures
}

/** Waits for Retry-After; a toast announces a rate limit. */
export function waitToRetry(problem: Problem, count: number): Promise<void> {
  const seconds = problem.retryAfterSeconds ?? 1
  if (problem.status === 429) {
    const subject = count === 1 ? '1 task' : `${count.toLocaleString()} tasks`
    toast.info(
      `Rate limit reached: ${subject} will be sent in ${seconds} s. Keep this page open.`,
      seconds * 1_000,
    )
  }
  return new Promise((resolve) => setTimeout(resolve, seconds * 1_000))
}
