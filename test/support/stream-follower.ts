import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { ADMIN_KEY } from './inlet-process.ts'
import { type Listener, listenTo } from './stream.ts'

const RECONNECT_MS = 100

/** Follows the stream as a browser does: when it ends, it resumes at the last event, at the next URL. */
export function followStream(targets: () => string[]) {
  /** The tasks whose creation was in the stream. */
  const created = new Set<string>()
  let listener: Listener | undefined
  let lastEventId: string | undefined
  let isRunning = true
  const first = Promise.withResolvers<void>()

  const running = follow()

  return {
    /** Waits until the stream has sent the creation of each of these tasks. */
    async expectCreated(ids: Iterable<string>) {
      const expected = [...ids]
      const missed = () => expected.filter((id) => !created.has(id))
      await expect.poll(() => missed().length, { message: 'tasks that the stream missed' }).toBe(0)
    },
    /** Resolves once it is connected. */
    ready: first.promise,
    async stop() {
      isRunning = false
      listener?.close()
      await running
    },
  }

  async function follow() {
    for (let turn = 0; isRunning; turn++) {
      const urls = targets()
      const url = urls[turn % urls.length] ?? ''
      const resume = lastEventId === undefined ? {} : { lastEventId }
      listener = await listenTo({ url, adminKey: ADMIN_KEY }, resume).catch(() => undefined)
      if (listener?.status === 200) {
        while (isRunning && !listener.isEnded) {
          if (listener.comments > 0) first.resolve()
          take(listener)
          await sleep(10)
        }
        take(listener)
      }
      listener?.close()
      await sleep(RECONNECT_MS)
    }
  }

  function take(listener: Listener) {
    lastEventId = listener.lastEventId ?? lastEventId
    for (const { event, data } of listener.events.splice(0)) {
      if (event === 'task.created') created.add(data.taskId)
    }
  }
}
