import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TestApp } from '../support/app.ts'
import { deliveryOf } from '../support/deliveries.ts'
import { feedback, startReceiver } from '../support/feedback.ts'

let service: TestApp
beforeAll(async () => {
  ;({ service } = await startReceiver())
})
afterAll(() => service.close())

describe('the email address of a user', () => {
  const ADDRESS = 'jane.doe+secret@example.org'

  test('is in the metadata and in the inbox, and nowhere else', async () => {
    const lines: string[] = []
    const { pino } = await import('pino')
    const logger = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) })
    const { service: watched, send: sendWatched } = await startReceiver({
      connectionString: service.connectionString,
      logger,
    })
    try {
      const note = `Write to me: ${ADDRESS.toUpperCase()}`
      const properties = { user_email: ADDRESS, note, contact: [ADDRESS], trigger: ADDRESS }
      const responses = [
        await sendWatched(feedback(properties)),
        await sendWatched(feedback({ ...properties, sentiment: ADDRESS })),
        await sendWatched(feedback(properties, { timestamp: ADDRESS, distinct_id: [ADDRESS] })),
        await sendWatched({ ...feedback(properties), event: { [ADDRESS]: 1 } }),
        await sendWatched(`{"event":"feedback_submitted","properties":{"user_email":"${ADDRESS}"`),
        await sendWatched(`{"user_email":"${ADDRESS}",}`),
        await service.post('/api/webhook-routing/test', feedback(properties)),
        await service.post('/api/webhook-routing/test', feedback({ ...properties, sentiment: ADDRESS })),
      ]
      expect(responses.map(({ status }) => status)).toEqual([201, 400, 400, 400, 400, 400, 200, 400])

      // A failure of ours, with the address among the parameters of the statement.
      await service.query(`alter table tasks add constraint refused check (title not like 'Refused%')`)
      const failed = await sendWatched(feedback({ ...properties, note: 'Refused, all of it' }))
      await service.query('alter table tasks drop constraint refused')
      expect(failed.status).toBe(500)
      await service.query('alter table deliveries rename to deliveries_away')
      const broken = await sendWatched(feedback({ ...properties, sentiment: 'wrong' }))
      await service.query('alter table deliveries_away rename to deliveries')
      expect(broken.status).toBe(500)

      const { taskId } = responses[0]?.body ?? {}
      const task = await service.task(taskId)
      const { metadata, ...rest } = task
      const seen = [
        ...lines,
        ...[...responses, failed, broken].map(({ body }) => JSON.stringify(body)),
        JSON.stringify(rest),
        JSON.stringify((await service.get('/api/activity?limit=200')).body),
        JSON.stringify((await service.get('/api/context')).body),
        JSON.stringify(await mcp('get_task', { id: taskId })),
        JSON.stringify(await mcp('list_tasks', {})),
        JSON.stringify(await mcp('get_context', {})),
      ]
      expect(seen.filter((text) => text.toLowerCase().includes('jane.doe'))).toEqual([])
      expect(lines.some((line) => line.includes('request failed'))).toBe(true)
      expect(JSON.stringify(metadata)).toContain(ADDRESS)
      expect(JSON.stringify(await deliveryOf(service, responses[0]?.body.deliveryId))).toContain(ADDRESS)
    } finally {
      await watched.close()
    }
  })

  async function mcp(name: string, args: object) {
    const response = await service.post(
      '/mcp',
      { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } },
      { headers: { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-06-18' } },
    )
    expect(JSON.stringify(response.body)).toMatch(/result/)
    return response.body
  }
})
