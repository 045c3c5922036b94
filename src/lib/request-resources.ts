import type { Writable } from 'node:stream'

export type RequestResources = ReturnType<typeof requestResources>

/**
 * The resources that a request has reserved, such as memory. They are released once its response is produced or, if the
 * client disconnects first, once its work has ended: until then they are in use.
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
    /** Calls back once the response is closed and its work has ended. */
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
