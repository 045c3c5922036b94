import { expect, vi } from 'vitest'
import type { TestApp } from './app.ts'

export type Locks = ReturnType<typeof locksOf>

/** Below the statement timeout. */
const POLLING = { timeout: 9_000, interval: 20 }

/** Blocks transactions of the service halfway, to test which one waits for which. */
export function locksOf(service: Pick<TestApp, 'connect' | 'query'>) {
  return {
    /** Takes a lock, and returns a function that releases it. */
    async acquire(lock: string) {
      const holder = await service.connect()
      await holder.query(`begin; ${lock}`)
      return async () => {
        await holder.query('rollback')
        holder.release()
      }
    },

    /** Resolves when `count` statements wait for a lock. Work that has already ended counts as well. */
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
      }, POLLING)
    },
  }
}
