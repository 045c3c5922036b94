import type { Writable } from 'node:stream'

export type RequestResources = ReturnType<typeof requestResources>

/**
 * Releases what a request has reserved once its response is produced. If the client disconnects, that is when the work
 * in progress has ended: until then the memory is in use.
 */
export function requestResources(response: Pick<Writable, 'closed' | 'once'>) {
  const releases: (() => void)[] = []
  const ends: (() => void)[] = []
  let workCount = 0
  response.once('close', endIfIdle)

  function endIfIdle(): void {
    if (workCount > 0) return
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
      workCount++
      try {
        return await work()
      } finally {
        workCount--
        if (response.closed) endIfIdle()
      }
    },
  }
}
