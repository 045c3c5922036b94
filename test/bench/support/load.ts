import { type BenchConnection, type BenchRequest, connectTo } from './connection.ts'

export type { BenchRequest }

interface LoadOptions {
  url: string
  connections: number
  seconds: number
  /** The next request to send. */
  request(): BenchRequest
  /** Any other status ends the measurement: refused requests are fast. */
  status: number
}

/** Each connection sends its next request when the previous response is read. Returns requests per second. */
export async function requestsPerSecond({ url, connections, seconds, status, request }: LoadOptions) {
  const opened = await connectAll(url, connections)
  const begin = performance.now()
  const end = begin + seconds * 1_000
  let responses = 0
  await Promise.all(
    opened.map(async ({ send }) => {
      while (performance.now() < end) {
        await send(request(), status)
        responses++
      }
    }),
  ).finally(() => closeAll(opened))
  return responses / ((performance.now() - begin) / 1_000)
}

interface RateOptions {
  url: string
  perSecond: number
  seconds: number
  request(): BenchRequest
  status: number
}

/**
 * Sends requests on a clock, however long the responses take. Returns the delay of each response in milliseconds,
 * counted from when its request was due: a sender that lags behind cannot hide a slow response.
 */
export async function delaysAtRate({ url, perSecond, seconds, request, status }: RateOptions) {
  const opened = await connectAll(url, 64)
  const free = [...opened]
  const waiting: number[] = []
  const delays: number[] = []
  const total = perSecond * seconds
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const begin = performance.now()
  let sent = 0

  const timer = setInterval(() => {
    const due = Math.min(total, ((performance.now() - begin) / 1_000) * perSecond)
    for (; sent < due; sent++) waiting.push(begin + (sent / perSecond) * 1_000)
    while (waiting.length > 0 && free.length > 0) void sendWaiting(free.pop() as BenchConnection)
    if (sent === total) clearInterval(timer)
  }, 2)

  /** Sends over a free connection until nothing waits. */
  async function sendWaiting(connection: BenchConnection): Promise<void> {
    try {
      for (let dueAt = waiting.shift(); dueAt !== undefined; dueAt = waiting.shift()) {
        await connection.send(request(), status)
        delays.push(performance.now() - dueAt)
      }
      free.push(connection)
      if (delays.length === total) resolve()
    } catch (error) {
      reject(error)
    }
  }

  await promise.finally(() => {
    clearInterval(timer)
    closeAll(opened)
  })
  return delays
}

const connectAll = (url: string, count: number) =>
  Promise.all(Array.from({ length: count }, () => connectTo(url)))

function closeAll(connections: BenchConnection[]): void {
  for (const { close } of connections) close()
}
