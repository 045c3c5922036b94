import type { Writable } from 'node:stream'

export type WorkHold = ReturnType<typeof workHold>

/**
 * Releases what a request has reserved once its response is produced. If the client disconnects, that is when the work
 * in progress has ended: until then the memory is in use.
 */
export function workHold(response: Pick<Writable, 'closed' | 'once'>) {
  const releases: (() => void)[] = []
  const ends: (() => void)[] = []
  let atWork = 0
  response.once('close', endUnlessAtWork)

  function endUnlessAtWork(): void {
    if (atWork > 0) return
    release()
    for (const each of ends.splice(0)) each()
  }

  function release(): void {
    for (const each of releases.splice(0)) each()
  }

  return {
    release,
    add: (each: () => void) => void releases.push(each),
    /** Calls back once the connection is done with the response and no work for it is left. */
    onEnd: (each: () => void) => void ends.push(each),
    async during<T>(work: () => T | Promise<T>): Promise<T> {
      atWork++
      try {
        return await work()
      } finally {
        atWork--
        if (response.closed) endUnlessAtWork()
      }
    },
  }
}
