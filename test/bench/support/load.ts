import { Client, Pool } from 'undici'

export interface BenchRequest {
  method: 'GET' | 'POST' | 'PATCH'
  path: string
  headers?: Record<string, string>
  body?: string
}

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
  const clients = Array.from({ length: connections }, () => new Client(url, { pipelining: 1 }))
  const begin = performance.now()
  const end = begin + seconds * 1_000
  let responses = 0
  await Promise.all(
    clients.map(async (client) => {
      while (performance.now() < end) {
        const { statusCode, body } = await client.request(request())
        if (statusCode !== status) throw new Error(`${statusCode}: ${await body.text()}`)
        await body.dump({ limit: Number.POSITIVE_INFINITY })
        responses++
      }
    }),
  ).finally(() => Promise.all(clients.map((client) => client.destroy())))
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
  const pool = new Pool(url, { connections: 64, pipelining: 1 })
  const begin = performance.now()
  const total = perSecond * seconds
  const delays: Promise<number | Error>[] = []

  async function delayOf(dueAt: number): Promise<number> {
    const { statusCode, body } = await pool.request(request())
    const text = await body.text()
    if (statusCode !== status) throw new Error(`${statusCode}: ${text}`)
    return performance.now() - dueAt
  }

  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      const due = Math.min(total, ((performance.now() - begin) / 1_000) * perSecond)
      while (delays.length < due) {
        const dueAt = begin + (delays.length / perSecond) * 1_000
        delays.push(delayOf(dueAt).catch((error: Error) => error))
      }
      if (delays.length < total) return
      clearInterval(timer)
      resolve()
    }, 2)
  })
  const results = await Promise.all(delays)
  await pool.destroy()
  return results.map((delay) => {
    if (delay instanceof Error) throw delay
    return delay
  })
}
