import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'
import { callTool, givenProjectWithKey, mcpConnections } from '../support/mcp-clients.ts'

let service: TestApp
beforeAll(async () => {
  service = await startApp()
})
afterAll(() => service.close())

const { connect, closeAll } = mcpConnections(() => service)
afterEach(closeAll)

test('an assistant gets the newest reports of a task and similar ones, fenced', async () => {
  const { key, inbox } = await givenProjectWithKey(service)
  const title = 'Login with a passkey fails in the browser'
  const target = await service.given.task(inbox, { title })
  const reports: string[] = []
  for (let number = 0; number < 7; number++) {
    const { id } = await service.given.task(inbox, { title: `Report ${number}` })
    await service.post(`/api/tasks/${id}/merge`, { into: target.id })
    reports.push(id)
  }
  const similar = await service.given.task(inbox, { title })
  while (await service.service.tasks.indexTexts());
  const client = await connect({ key })

  const { data, text } = await callTool(client, 'get_task', { id: target.id })

  expect(data.reports).toBe(8)
  expect(data.latestReports).toHaveLength(5)
  expect(data.latestReports[0]).toEqual({
    id: reports.at(-1),
    title: 'Report 6',
    openedAt: expect.any(String),
  })
  expect(data.similar).toEqual([{ id: similar.id, title, status: 'open', similarity: 1 }])
  const [, fenced = ''] = text.split('```')
  expect(fenced).toContain(JSON.stringify(data.latestReports))
  expect(fenced).toContain(JSON.stringify(data.similar))
  const report = await callTool(client, 'get_task', { id: reports[0] })
  expect(report.data).toMatchObject({ mergedInto: target.id, latestReports: [], similar: [] })
})
