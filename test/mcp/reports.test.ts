import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'
import { callTool, givenProjectWithKey, mcpConnections } from '../support/mcp-clients.ts'

let service: TestApp
beforeAll(async () => {
  service = await startApp()
})
afterAll(() => service.close())

const connect = mcpConnections(() => service)

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

test('an assistant merges a task into another, and unmerges it', async () => {
  const { key, inbox } = await givenProjectWithKey(service)
  const [target, report] = [await service.given.task(inbox), await service.given.task(inbox)]
  const client = await connect({ key })
  const update = (args: object) => callTool(client, 'update_task', { id: report.id, ...args })

  const merged = await update({ mergeInto: target.id })
  expect(merged.data).toMatchObject({ status: 'done', mergedInto: target.id })
  expect((await callTool(client, 'get_task', { id: target.id })).data.reports).toBe(2)

  const unmerged = await update({ unmerge: true })
  expect(unmerged.data.status).toBe('open')
  expect(unmerged.data.mergedInto).toBeUndefined()

  const both = await update({ mergeInto: target.id, status: 'done' })
  expect(both.isError).toBe(true)
  expect(both.text).toContain('status is not supported with mergeInto')
  expect((await service.get(`/api/tasks/${report.id}`)).body.mergedInto).toBeNull()
})

test('an assistant merges a claimed task only under its claim', async () => {
  const { key, inbox } = await givenProjectWithKey(service)
  const [target, report] = [await service.given.task(inbox), await service.given.task(inbox)]
  const client = await connect({ key })
  const merge = (args: object = {}) =>
    callTool(client, 'update_task', { id: report.id, mergeInto: target.id, ...args })
  const { data } = await callTool(client, 'claim_task', { id: report.id })

  const unnamed = await merge()
  const stale = await merge({ claimNumber: data.claim.number + 1 })
  expect(unnamed).toMatchObject({
    isError: true,
    text: expect.stringMatching(/^task_claimed: .*claimNumber/),
  })
  expect(stale).toMatchObject({ isError: true, text: expect.stringMatching(/^claim_lost: /) })
  expect((await service.get(`/api/tasks/${report.id}`)).body).toMatchObject({ mergedInto: null, version: 2 })

  const merged = await merge({ claimNumber: data.claim.number })
  expect(merged.data).toMatchObject({ status: 'done', mergedInto: target.id, version: 3 })
  // The response may have been lost.
  expect((await merge({ claimNumber: data.claim.number })).data).toEqual(merged.data)
  const [logged] = await service.query(
    "select metadata from activity where task_id = $1 and type = 'task.merged'",
    [report.id],
  )
  expect(logged.metadata).toEqual({ into: target.id, from: 'open' })
})

test('a task is read once for an assistant, with its reports and similar tasks', async () => {
  const { key, inbox } = await givenProjectWithKey(service)
  const target = await service.given.task(inbox, { title: 'Login with a passkey fails' })
  const { id } = await service.given.task(inbox, { title: 'A report' })
  await service.post(`/api/tasks/${id}/merge`, { into: target.id })
  const client = await connect({ key })
  const reads: PropertyKey[] = []
  const within = service.repos.within
  const spy = vi.spyOn(service.repos, 'within').mockImplementation((reach) => {
    const bound = within(reach)
    const get = (tasks: typeof bound.tasks, name: keyof typeof bound.tasks) => {
      if (name.startsWith('find')) reads.push(name)
      return tasks[name]
    }
    return { ...bound, tasks: new Proxy(bound.tasks, { get: get as () => unknown }) }
  })

  const { data } = await callTool(client, 'get_task', { id: target.id })
  spy.mockRestore()

  expect(data.latestReports).toHaveLength(1)
  expect(reads).toEqual(['findJson'])
})
