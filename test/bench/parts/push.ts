import { createHmac, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { startCodeHost } from '../../support/code-host.ts'
import { itemDelivery } from '../../support/code-host-deliveries.ts'
import { written } from '../../support/code-host-items.ts'
import { type Figure, quantile } from '../support/figures.ts'
import { type BenchRequest, delaysAtRate } from '../support/load.ts'
import { ADMIN_KEY, type Setup } from '../support/setup.ts'

const PER_SECOND = 100
const SECONDS = 20
/** As in recorded deliveries, with the users and the repository in full. */
const BODY = 'The export button does nothing. '.repeat(300)
const POLL_MS = 200
/** Several polls of the stream. */
const SETTLE_MS = 1_000

/** The push receiver: the delay of its responses, and how soon the stream shows the task. */
export async function push(setup: Setup): Promise<Figure[]> {
  const host = await startCodeHost()
  const repository = host.repository('bench/pushed')
  const { about } = repository
  const service = await setup.service({
    DATABASE_URL: await setup.database('push'),
    CODEHOST_API_URLS: host.url,
    ENCRYPTION_KEY: 'ab'.repeat(32),
    RATE_LIMIT_PER_MINUTE: '0',
  })
  const ask = async (method: string, path: string, body?: object) => {
    const headers = { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json' }
    const response = await fetch(service.url + path, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    })
    // biome-ignore lint/suspicious/noExplicitAny: whatever the route returns.
    return (await response.json()) as any
  }
  try {
    const { id } = await ask('POST', '/api/projects', { name: 'Pushed' })
    const connection = { repository: repository.name, schedule: 'off' }
    const { webhook } = await ask('PUT', `/api/projects/${id}/codehost`, connection)
    const sentAt: number[] = []
    const request = (): BenchRequest => {
      const item = repository.issue({ title: `${sentAt.length}`, body: BODY })
      sentAt.push(performance.now())
      const body = written(itemDelivery(item, { api: host.url, repository: about, action: 'opened' }).payload)
      return {
        method: 'POST',
        path: new URL(webhook.url).pathname,
        headers: {
          'content-type': 'application/json',
          'x-github-event': 'issues',
          'x-github-delivery': randomUUID(),
          'x-hub-signature-256': `sha256=${createHmac('sha256', webhook.secret).update(body).digest('hex')}`,
        },
        body,
      }
    }
    const target = { url: service.url, request, status: 202, perSecond: PER_SECOND }
    await delaysAtRate({ ...target, seconds: 3 })
    const stream = await creationsIn(`${service.url}/api/stream?projectId=${id}`)
    const first = sentAt.length
    const responses = await delaysAtRate({ ...target, seconds: SECONDS })
    const pending = `/api/deliveries?projectId=${id}&outcome=pending&limit=1`
    while ((await ask('GET', pending)).data.length > 0) await sleep(POLL_MS)
    await sleep(SETTLE_MS)
    const shownAt = stream.stop()

    const shown: number[] = []
    for (let cursor = ''; ; ) {
      const page = await ask('GET', `/api/tasks?projectId=${id}&fields=summary&limit=200${cursor}`)
      for (const task of page.data) {
        const number = Number(task.title)
        if (number < first) continue
        shown.push((shownAt.get(task.id) ?? Number.POSITIVE_INFINITY) - (sentAt[number] ?? 0))
      }
      if (page.nextCursor === null) break
      cursor = `&cursor=${page.nextCursor}`
    }
    if (shown.length !== PER_SECOND * SECONDS) throw new Error(`${shown.length} tasks were created.`)
    const rate = `${PER_SECOND} deliveries a second for ${SECONDS} s`
    return [
      {
        name: `${rate}, 99 % of the responses within`,
        unit: 'ms',
        value: quantile(responses, 0.99),
        valueLimit: { atMost: 100 },
      },
      {
        name: `${rate}, 95 % of the tasks on the stream within`,
        unit: 'ms',
        value: quantile(shown, 0.95),
        valueLimit: { atMost: 1_000 },
      },
    ]
  } finally {
    await service.stop()
    await host.close()
  }
}

/** When the stream has shown the creation of each task. */
async function creationsIn(url: string) {
  const stopping = new AbortController()
  const response = await fetch(url, { headers: { 'x-api-key': ADMIN_KEY }, signal: stopping.signal })
  const shownAt = new Map<string, number>()
  const reading = read().catch(() => {})

  return {
    stop() {
      stopping.abort()
      void reading
      return shownAt
    },
  }

  async function read() {
    let rest = ''
    for await (const chunk of (response.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
      const lines = (rest + chunk).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) {
        if (!line.startsWith('data: {')) continue
        const { type, taskId } = JSON.parse(line.slice('data: '.length))
        if (type === 'task.created') shownAt.set(taskId, performance.now())
      }
    }
  }
}
