import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { ADMIN_KEY } from './inlet-process.ts'
import { type Listener, listenTo } from './stream.ts'

const RECONNECT_MS = 100

/** Follows the stream as a browser does: when it ends, it goes on where it was, at the next address. */
export function followCarefully(targets: () => string[]) {
  /** The tasks whose creation was told. */
  const created = new Set<string>()
  let listener: Listener | undefined
  let lastEventId: string | undefined
  let isOn = true
  const first = Promise.withResolvers<void>()

  const running = follow()

  return {
    /** Nothing is missed, whatever happened meanwhile: it waits until it has heard of each of these tasks. */
    async expectCreated(ids: Iterable<string>) {
      const wanted = [...ids]
      const missed = () => wanted.filter((id) => !created.has(id))
      await expect.poll(() => missed().length, { message: 'tasks that the stream did not tell' }).toBe(0)
    },
    /** Resolves once it hears. */
    ready: first.promise,
    async stop() {
      isOn = false
      listener?.close()
      await running
    },
  }

  async function follow() {
    for (let turn = 0; isOn; turn++) {
      const urls = targets()
      const url = urls[turn % urls.length] ?? ''
      const resume = lastEventId === undefined ? {} : { lastEventId }
      listener = await listenTo({ url, adminKey: ADMIN_KEY }, resume).catch(() => undefined)
      if (listener?.status === 200) {
        while (isOn && !listener.isOver) {
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

  function take({ heard }: Listener) {
    for (const { id, event, data } of heard.splice(0)) {
      if (id === null) continue
      lastEventId = id
      if (event === 'task.created') created.add(data.taskId)
    }
  }
}
