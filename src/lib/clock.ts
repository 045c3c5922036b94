import { v7 } from 'uuid'

/** The source of time and ids: both are injected, so that rules which depend on them can be tested. */
export interface Clock {
  now(): Date
  /** A UUIDv7 of that time. Within one process later ids sort later, also within one millisecond. */
  newId(time: Date): string
}

export function systemClock(): Clock {
  const random = randomSource()
  let sequence = 0
  return {
    now: () => new Date(),
    newId: (time) => {
      sequence = (sequence + 1) >>> 0
      return v7({ msecs: time.getTime(), seq: sequence, random: random() })
    },
  }
}

/** 16 random bytes per id from a pool: a system call for each costs more than the rest of the id. */
function randomSource() {
  const pool = new Uint8Array(4_096)
  let used = pool.length
  return () => {
    if (used === pool.length) {
      crypto.getRandomValues(pool)
      used = 0
    }
    used += 16
    return pool.subarray(used - 16, used)
  }
}
