import { type Problem, problemOf } from '../../api/problem.ts'
import { toast } from '../../components/toast.ts'
import type { Failure } from './bulk.ts'

/** A browser and a service are both better off with a few at a time. */
const CONCURRENCY = 6

/** Runs a few at a time; returns what failed. What comes too fast for the service is sent again when it says. */
export async function sendEach<T>(items: T[], work: (item: T) => Promise<void>): Promise<Failure<T>[]> {
  const failures: Failure<T>[] = []
  const waiting = [...items]
  let left = items.length
  let pause: Promise<void> | undefined
  const worker = async () => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) {
      await pause
      const problem = await work(item).then(() => undefined, problemOf)
      if (problem?.status === 429) {
        waiting.push(item)
        pause ??= waitFor(problem, left).then(() => {
          pause = undefined
        })
        continue
      }
      left--
      if (problem) failures.push({ item, problem })
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, worker))
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
