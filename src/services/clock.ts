import { v7 } from 'uuid'

/** Time and identity: everything a rule cannot repeat comes in through here. */
export interface Clock {
  now(): Date
  /** A UUIDv7 of that moment. Within one process later ones sort later, also within one millisecond. */
  newId(at: Date): string
}

export function systemClock(): Clock {
  let sequence = 0
  return {
    now: () => new Date(),
    newId: (at) => {
      sequence = (sequence + 1) >>> 0
      return v7({ msecs: at.getTime(), seq: sequence })
    },
  }
}
