import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'

/** A statement that waited for a lock: for how long, as far as it was seen. */
export interface LockWait {
  ms: number
  query: string
}

interface Sample {
  pid: number
  /** Since when it waits, by the server's clock; unique with the pid. */
  since: string
  ms: number
  blockers: number[]
  isHolder: boolean
  query: string
}

const PAUSE_MS = 10

/** All who wait for a lock or have locked rows of a table, with whom they wait for. */
const SAMPLE = `
  select pid, coalesce(waitstart::text, '') as since,
    coalesce(extract(epoch from clock_timestamp() - waitstart) * 1000, 0)::float8 as ms,
    case when waitstart is null then '{}' else pg_blocking_pids(pid) end as blockers,
    exists (
      select from pg_locks own where own.pid = activity.pid and own.granted and own.relation = to_regclass($1)
      and own.mode in ('RowShareLock', 'RowExclusiveLock')
    ) as "isHolder",
    query
  from pg_stat_activity as activity left join (select pid, waitstart from pg_locks where not granted) as waiting using (pid)
  where datname = current_database() and (waitstart is not null or state <> 'idle')`

/**
 * Samples who waits, directly or behind others, for transactions that have locked rows of a table: each wait once, as
 * long as it was last seen, so at most one sample too short. `stallMs` is how long the slowest sample took, which waits
 * for nobody: a machine that stops for that long prolongs the waits as well.
 */
export async function watchLockWaits(connectionString: string, table: string) {
  const client = new pg.Client({ connectionString, application_name: 'test lock waits' })
  await client.connect()
  const waits = new Map<string, LockWait>()
  let stallMs = 0
  let isOn = true
  const sampling = sample()

  return {
    async stop() {
      isOn = false
      await sampling
      await client.end()
      return { waits: [...waits.values()], stallMs }
    },
  }

  async function sample() {
    while (isOn) {
      const start = performance.now()
      const { rows } = await client.query<Sample>({ name: 'lock-waits', text: SAMPLE, values: [table] })
      for (const { pid, since, ms, query } of waitingForHolders(rows))
        waits.set(`${pid} ${since}`, { ms, query })
      await sleep(PAUSE_MS)
      stallMs = Math.max(stallMs, performance.now() - start - PAUSE_MS)
    }
  }
}

function waitingForHolders(rows: Sample[]): Sample[] {
  const behind = new Set(rows.filter(({ isHolder }) => isHolder).map(({ pid }) => pid))
  const found = new Set<Sample>()
  for (let size = -1; size < found.size; ) {
    size = found.size
    for (const row of rows) {
      if (!row.blockers.some((pid) => behind.has(pid))) continue
      behind.add(row.pid)
      found.add(row)
    }
  }
  return [...found]
}
