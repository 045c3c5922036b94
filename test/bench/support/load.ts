import { Client } from 'undici'

interface LoadOptions {
  url: string
  connections: number
  seconds: number
  method: 'GET' | 'POST'
  path: string
  headers?: Record<string, string>
  body?: string
  /** Another answer ends the measurement: fast mistakes are no figure. */
  status: number
}

/** Each connection sends its next request when the answer to the one before is read. Answers requests a second. */
export async function requestsPerSecond({ url, connections, seconds, status, ...request }: LoadOptions) {
  const clients = Array.from({ length: connections }, () => new Client(url, { pipelining: 1 }))
  const begin = performance.now()
  const end = begin + seconds * 1_000
  let answered = 0
  await Promise.all(
    clients.map(async (client) => {
      while (performance.now() < end) {
        const answer = await client.request(request)
        if (answer.statusCode !== status) throw new Error(`${answer.statusCode}: ${await answer.body.text()}`)
        await answer.body.dump({ limit: Number.POSITIVE_INFINITY })
        answered++
      }
    }),
  ).finally(() => Promise.all(clients.map((client) => client.destroy())))
  return answered / ((performance.now() - begin) / 1_000)
}
