import { v7 } from 'uuid'

/** Time and identity: everything a rule cannot repeat comes in through here. */
export interface Clock {
  now(): Date
  /** A UUIDv7 of that moment. Within one process later ones sort later, also within one millisecond. */
  newId(at: Date): string
}

export function systemClock(): Clock {
  const random = randomSource()
  let sequence = 0
  return {
    now: () => new Date(),
    newId: (at) => {
      sequence = (sequence + 1) >>> 0
      return v7({ msecs: at.getTime(), seq: sequence, random: random() })
    },
  }
}

/** 16 random bytes a time. Asking the system for each costs more than all the rest of an identifier. */
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
