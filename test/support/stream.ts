import { setTimeout as sleep } from 'node:timers/promises'
import type { TestApp } from './app.ts'

export interface StreamEvent {
  id: string | null
  event: string
  // biome-ignore lint/suspicious/noExplicitAny: each test states what it expects of an event.
  data: any
}

export interface Listener {
  status: number
  headers: Headers
  events: StreamEvent[]
  comments: number
  /** Where a stream can resume. */
  lastEventId: string | undefined
  /** Whether the server, not `close`, ended it. */
  isEnded: boolean
  /** Waits until enough events have arrived, or fails. */
  until(isEnough: (events: StreamEvent[]) => boolean, timeoutMs?: number): Promise<StreamEvent[]>
  close(): void
}

interface ListenOptions {
  key?: string
  /** Instead of the key: those of a session. */
  headers?: Record<string, string>
  lastEventId?: string
  query?: string
}

/** Opens `/api/stream` and collects its events. Resolves when the headers have arrived. */
export async function listenTo(
  service: Pick<TestApp, 'url' | 'adminKey'>,
  {
    key = service.adminKey,
    headers: sent = { 'x-api-key': key },
    lastEventId,
    query = '',
  }: ListenOptions = {},
): Promise<Listener> {
  const leaving = new AbortController()
  const response = await fetch(`${service.url}/api/stream${query}`, {
    headers: { ...sent, ...(lastEventId !== undefined && { 'last-event-id': lastEventId }) },
    signal: leaving.signal,
  })
  const { status, headers, body } = response
  return collectEvents({ status, headers, body: body ?? [], leave: () => leaving.abort() })
}

interface EventResponse {
  status: number
  headers: Headers
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>
  leave(): void
}

/** Collects the events of a response, however it was requested. */
export function collectEvents({ status, headers, body, leave }: EventResponse): Listener {
  const listener: Listener = {
    status,
    headers,
    events: [],
    comments: 0,
    lastEventId: undefined,
    isEnded: false,
    async until(isEnough, timeoutMs = 20_000) {
      const deadline = Date.now() + timeoutMs
      while (!isEnough(listener.events)) {
        if (Date.now() > deadline)
          throw new Error(`Received only ${JSON.stringify(listener.events.slice(-3))}`)
        await sleep(5)
      }
      return listener.events
    },
    close: leave,
  }
  void gather(body, listener)
  return listener
}

/** Opens streams, of the default service unless another is given, and closes them together. */
export function streamListeners(defaultService: () => Pick<TestApp, 'url' | 'adminKey'>) {
  const open: Listener[] = []
  return {
    async follow(options: ListenOptions = {}, service: Pick<TestApp, 'url' | 'adminKey'> = defaultService()) {
      const listener = await listenTo(service, options)
      open.push(listener)
      return listener
    },
    closeAll() {
      for (const listener of open.splice(0)) listener.close()
    },
  }
}

/** Whether there is an event of this activity. */
export const hasId = (id: string) => (events: StreamEvent[]) => events.some(({ data }) => data.id === id)

/** Without the changes that are not recorded, such as the notice of a resumed stream. */
export const stored = (events: StreamEvent[]) => events.filter(({ id }) => id !== null)

/** The ids of the activities. */
export const idsOf = (events: StreamEvent[]): string[] => stored(events).map(({ data }) => data.id)

async function gather(body: EventResponse['body'], listener: Listener): Promise<void> {
  const decoder = new TextDecoder()
  let text = ''
  try {
    for await (const chunk of body) {
      text += decoder.decode(chunk, { stream: true })
      const frames = text.split('\n\n')
      text = frames.pop() ?? ''
      for (const frame of frames) take(frame, listener)
    }
    listener.isEnded = true
  } catch (error) {
    listener.isEnded = (error as Error).name !== 'AbortError'
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
  listener.lastEventId = fields.get('id') ?? listener.lastEventId
  const data = fields.get('data')
  if (data === undefined) return
  listener.events.push({
    id: fields.get('id') ?? null,
    event: fields.get('event') ?? 'message',
    data: JSON.parse(data),
  })
}
