import { pino } from 'pino'
import { expect, test } from 'vitest'
import { startApp } from '../support/app.ts'
import { CLIENTS, callTool } from '../support/mcp-clients.ts'

test('a tool that fails is logged with its error, and without its arguments', async () => {
  const log: string[] = []
  const service = await startApp({ logger: pino({ level: 'error' }, { write: (line) => log.push(line) }) })
  try {
    await service.query('alter table tasks rename to elsewhere')
    const client = await CLIENTS['v2 client, 2026-07-28'](service.url, { 'x-api-key': service.adminKey })
    try {
      const { isError, text } = await callTool(client, 'list_tasks', { q: 'ann@example.com' })

      expect(isError).toBe(true)
      expect(text).toContain('internal_error')
      expect(log.join('')).toMatch(/AI tool failed/)
      expect(log.join('')).toContain('does not exist')
      expect(log.join('')).not.toContain('ann@example.com')
    } finally {
      await client.close()
    }
  } finally {
    await service.close()
  }
})
