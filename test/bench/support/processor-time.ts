import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { query } from './setup.ts'

/** Microseconds of a tick, in which Linux counts processor time. */
const TICK_US = 1_000_000 / Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }))

/** What a process has used until now, in microseconds. */
export const processorTimeOf = (pid: number): number => readTimes(pid).own

/**
 * What a PostgreSQL server on this machine has used until now, in microseconds: each of its processes is a child of one,
 * which also counts those that have ended.
 */
export async function processorTimeOfServer(connectionString: string): Promise<number> {
  const [lasting] = await query<{ pid: number }>(
    connectionString,
    "select pid from pg_stat_activity where backend_type = 'checkpointer'",
  )
  const server = readTimes(lasting?.pid ?? 0).parent
  const processes = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  const children = processes.flatMap((pid) => {
    try {
      const times = readTimes(Number(pid))
      return times.parent === server ? [times.own] : []
    } catch {
      // It has ended.
      return []
    }
  })
  const { own, ended } = readTimes(server)
  return own + ended + children.reduce((sum, time) => sum + time, 0)
}

function readTimes(pid: number) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The name of the program may contain spaces and parentheses.
  const [, parent, ...rest] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number)
  // proc(5): utime, stime, cutime, and cstime are fields 14 to 17, and the rest begins with field 5.
  const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = rest.slice(9)
  return { parent: parent ?? 0, own: (user + system) * TICK_US, ended: (endedUser + endedSystem) * TICK_US }
}
