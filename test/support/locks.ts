import { expect, vi } from 'vitest'
import type { TestApp } from './app.ts'

export type Locks = ReturnType<typeof locksOf>

/** Below the time a statement has. */
const PATIENCE = { timeout: 9_000, interval: 20 }

/** Holds up transactions of the service in the middle, to see who waits for whom. */
export function locksOf(service: Pick<TestApp, 'connect' | 'query'>) {
  return {
    /** Takes a lock, and keeps it until the answer is called. */
    async hold(lock: string) {
      const holder = await service.connect()
      await holder.query(`begin; ${lock}`)
      return async () => {
        await holder.query('rollback')
        holder.release()
      }
    },

    /** Resolves when so many statements wait for a lock. What is over by then, in whatever way, counts as well. */
    async waiting(count: number, ...work: Promise<unknown>[]) {
      let finished = 0
      const finish = () => finished++
      for (const each of work) each.then(finish, finish)
      await vi.waitFor(async () => {
        const [row] = await service.query(
          `select count(*)::int from pg_stat_activity
           where datname = current_database() and wait_event_type = 'Lock'`,
        )
        expect(row.count + finished).toBeGreaterThanOrEqual(count)
      }, PATIENCE)
    },
  }
}
