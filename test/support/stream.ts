import { setTimeout as sleep } from 'node:timers/promises'
import type { TestApp } from './app.ts'

export interface Heard {
  id: string | null
  event: string
  // biome-ignore lint/suspicious/noExplicitAny: a test says itself what it expects of an event.
  data: any
}

export interface Listener {
  status: number
  headers: Headers
  heard: Heard[]
  comments: number
  /** Whether the other end, not `close`, has ended it. */
  isOver: boolean
  /** Waits until so many events are there, or fails. */
  until(isEnough: (heard: Heard[]) => boolean, patienceMs?: number): Promise<Heard[]>
  close(): void
}

interface ListenOptions {
  key?: string
  lastEventId?: string
  query?: string
}

/** Opens `/api/stream` and gathers what it says. Answers once the headers are here. */
export async function listenTo(
  service: Pick<TestApp, 'url' | 'adminKey'>,
  { key = service.adminKey, lastEventId, query = '' }: ListenOptions = {},
): Promise<Listener> {
  const leaving = new AbortController()
  const response = await fetch(`${service.url}/api/stream${query}`, {
    headers: { 'x-api-key': key, ...(lastEventId !== undefined && { 'last-event-id': lastEventId }) },
    signal: leaving.signal,
  })
  const listener: Listener = {
    status: response.status,
    headers: response.headers,
    heard: [],
    comments: 0,
    isOver: false,
    async until(isEnough, patienceMs = 10_000) {
      const deadline = Date.now() + patienceMs
      while (!isEnough(listener.heard)) {
        if (Date.now() > deadline) throw new Error(`Heard only ${JSON.stringify(listener.heard.slice(-3))}`)
        await sleep(5)
      }
      return listener.heard
    },
    close: () => leaving.abort(),
  }
  void gather(response, listener)
  return listener
}

async function gather(response: Response, listener: Listener): Promise<void> {
  const decoder = new TextDecoder()
  let text = ''
  try {
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true })
      const frames = text.split('\n\n')
      text = frames.pop() ?? ''
      for (const frame of frames) take(frame, listener)
    }
    listener.isOver = true
  } catch (error) {
    listener.isOver = (error as Error).name !== 'AbortError'
  }
}

function take(frame: string, listener: Listener): void {
  const fields = new Map(
    frame.split('\n').map((line) => {
      // A line separator (U+2028) is text here and does not end a line.
      const [, name = '', value = ''] = /^([^:]*): ?(.*)$/s.exec(line) ?? []
      return [name, value]
    }),
  )
  if (fields.has('')) listener.comments++
  const data = fields.get('data')
  if (data === undefined) return
  listener.heard.push({
    id: fields.get('id') ?? null,
    event: fields.get('event') ?? 'message',
    data: JSON.parse(data),
  })
}
