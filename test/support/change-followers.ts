import { setTimeout as sleep } from 'node:timers/promises'
import { ADMIN_KEY } from './inlet-process.ts'
import { listenTo } from './stream.ts'

interface Change {
  id: string
  taskId: string | null
  type: string
  metadata: { changes?: { title?: { from: string; to: string } } }
}

/** What somebody who follows the changes has recorded, in the order in which it came. */
export interface Follower {
  record: Change[]
  /** How often it had to ask again. */
  failures(): number
  stop(): Promise<void>
}

interface FollowOptions {
  targets: () => string[]
  random: () => number
}

const RETRY_MS = 50

/** Follows `GET /api/changes` as its guide says: at any instance, with long polls, and again after each failure. */
export function followChanges({ targets, random }: FollowOptions): Follower {
  const record: Change[] = []
  const ending = new AbortController()
  let failures = 0
  const running = follow()
  return {
    record,
    failures: () => failures,
    async stop() {
      ending.abort()
      await running
    },
  }

  async function follow() {
    let position = 'from=start'
    while (!ending.signal.aborted) {
      const urls = targets()
      const url = urls[Math.floor(random() * urls.length)] ?? ''
      const limit = 1 + Math.floor(random() * 200)
      try {
        const response = await fetch(`${url}/api/changes?${position}&limit=${limit}&wait=2`, {
          headers: { 'x-api-key': ADMIN_KEY },
          signal: ending.signal,
        })
        if (!response.ok) throw new Error(`${response.status} ${await response.text()}`)
        const { data, nextCursor } = (await response.json()) as { data: Change[]; nextCursor: string }
        record.push(...data)
        position = `cursor=${nextCursor}`
      } catch (error) {
        if (/^400/.test((error as Error).message)) throw error
        failures++
        await sleep(RETRY_MS)
      }
    }
  }
}

/** Follows `GET /api/stream`, and continues after the last event at another instance when it ends. */
export function followEvents({ targets, random }: FollowOptions): Follower {
  const record: Change[] = []
  let isRunning = true
  let failures = 0
  let lastEventId: string | undefined
  const running = follow()
  return {
    record,
    failures: () => failures,
    async stop() {
      isRunning = false
      await running
    },
  }

  async function follow() {
    while (isRunning) {
      const urls = targets()
      const url = urls[Math.floor(random() * urls.length)] ?? ''
      // Some streams are cut by the client.
      const until = Date.now() + 200 + random() * 3_000
      const from = lastEventId === undefined ? {} : { lastEventId }
      const listener = await listenTo({ url, adminKey: ADMIN_KEY }, from).catch(() => undefined)
      if (listener?.status !== 200) failures++
      while (listener?.status === 200 && isRunning && !listener.isEnded && Date.now() < until) await sleep(10)
      listener?.close()
      for (const { id, data } of listener?.events ?? []) if (id !== null) record.push(data)
      lastEventId = listener?.lastEventId ?? lastEventId
      await sleep(RETRY_MS)
    }
  }
}
