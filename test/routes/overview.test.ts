import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { codeOf, startApp, type TestApp } from '../support/app.ts'
import { exported, importInto } from '../support/exports.ts'
import { callTool, mcpConnections } from '../support/mcp-clients.ts'
import { countAll, countedBy } from '../support/overview.ts'

let service: TestApp
beforeAll(async () => {
  service = await startApp()
})
afterAll(() => service.close())

const connect = mcpConnections(() => service)
const DAY_MS = 86_400_000
const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS)

async function overviewOf(query: string, { key = service.adminKey } = {}) {
  await countAll(service)
  const { status, body } = await service.get(`/api/overview?${query}`, { key })
  expect(status).toBe(200)
  return body
}

/** The counts that aren't zero, of all weeks. */
function totalOf(weeks: Record<'opened' | 'closed', Record<string, number>>[], name: 'opened' | 'closed') {
  const total: Record<string, number> = {}
  for (const week of weeks)
    for (const [key, count] of Object.entries(week[name]))
      if (count > 0) total[key] = (total[key] ?? 0) + count
  return total
}

async function signedIn() {
  const response = await service.post('/api/sessions', { key: service.adminKey }, { key: null })
  const [cookie = ''] = response.headers.getSetCookie()
  const headers = { cookie: cookie.split(';')[0] ?? '', origin: service.url }
  return { key: null, headers }
}

describe('the overview', () => {
  test('of no tasks has weeks of zeros', async () => {
    const { id } = await service.given.project()

    const overview = await overviewOf(`projectId=${id}`)

    expect(overview.weeks).toHaveLength(12)
    const { start, opened, closed } = overview.weeks.at(-1)
    expect([new Date(start).getUTCDay(), start.slice(10)]).toEqual([1, 'T00:00:00.000Z'])
    expect(Date.now() - new Date(start).getTime()).toBeLessThan(7 * DAY_MS)
    expect(opened).toEqual({ api: 0, codehost: 0, analytics: 0, dashboard: 0, assistant: 0, webhook: 0 })
    expect(closed).toEqual({ people: 0, assistants: 0, host: 0, other: 0 })
    expect(overview).toMatchObject({
      untriaged: 0,
      oldestUntriagedAt: null,
      oldestOpenAt: null,
      daysToDone: null,
    })
  })

  test('has the weeks in which tasks were opened and closed, of up to ten years', async () => {
    const { id, inbox } = await service.given.project()
    const past = { status: 'done', openedAt: daysAgo(3_000), completedAt: daysAgo(2_990) } as const
    await service.given.task(inbox, past)
    const oldest = await service.given.task(inbox, { openedAt: daysAgo(100) })
    await service.given.task(inbox, { openedAt: new Date(Date.now() + 30 * DAY_MS) })
    await service.query('delete from overview_progress')

    const recent = await overviewOf(`projectId=${id}`)
    expect(totalOf(recent.weeks, 'opened')).toEqual({})
    expect(recent).toMatchObject({ oldestOpenAt: oldest.openedAt.toISOString(), daysToDone: null })
    const all = await overviewOf(`projectId=${id}&weeks=520`)
    expect(totalOf(all.weeks, 'opened')).toEqual({ api: 2 })
    const closed = all.weeks.filter((week: never) => totalOf([week], 'closed').other)
    expect(closed).toHaveLength(1)
    const age = past.completedAt.getTime() - new Date(closed[0].start).getTime()
    expect(age >= 0 && age < 7 * DAY_MS).toBe(true)
    expect(all.daysToDone).toEqual({ median: 10, p90: 10 })
  })

  test('says who closed the tasks', async () => {
    const { id, inbox } = await service.given.project()
    const tasks = []
    for (let n = 0; n < 6; n++) tasks.push(await service.given.task(inbox))
    const [byKey, byPerson, byAssistant, report, doneReport, reopened] = tasks.map(({ id }) => id)
    const person = await signedIn()
    const done = { status: 'done' }
    await service.patch(`/api/tasks/${byKey}`, done)
    await service.patch(`/api/tasks/${byPerson}`, done, person)
    await callTool(await connect({ key: service.adminKey }), 'update_task', { id: byAssistant, ...done })
    await service.post(`/api/tasks/${report}/merge`, { into: byKey }, person)
    // The key did it, not the person who then merged it.
    await service.patch(`/api/tasks/${doneReport}`, done)
    await service.post(`/api/tasks/${doneReport}/merge`, { into: byKey }, person)
    await service.patch(`/api/tasks/${reopened}`, done)
    await service.patch(`/api/tasks/${reopened}`, { status: 'open' })
    const imported = { status: 'done', completedAt: daysAgo(0), source: 'codehost' } as const
    await service.given.task(inbox, { ...imported, createdByType: 'codehost' })
    await service.query('delete from overview_progress')

    const { weeks, daysToDone } = await overviewOf(`projectId=${id}`)

    expect(totalOf(weeks, 'closed')).toEqual({ people: 2, assistants: 1, host: 1, other: 2 })
    expect(totalOf(weeks, 'opened')).toEqual({ api: 6, codehost: 1 })
    expect(daysToDone).toEqual({ median: 0, p90: 0 })
  })

  test('counts what is to be triaged', async () => {
    const { id, inbox } = await service.given.project()
    const create = async () => (await service.post('/api/tasks', { title: 'A', listId: inbox.id })).body
    const [first, second, third] = [await create(), await create(), await create()]
    await service.patch(`/api/tasks/${third.id}`, { snoozedUntil: new Date(Date.now() + DAY_MS) })

    const before = await overviewOf(`projectId=${id}`)
    expect(before).toMatchObject({ untriaged: 2, oldestUntriagedAt: first.createdAt })
    await service.post(`/api/tasks/${first.id}/comments`, { body: 'Looks good.' })
    const after = await overviewOf(`projectId=${id}`)
    expect(after).toMatchObject({ untriaged: 1, oldestUntriagedAt: second.createdAt })
  })

  test('has the projects in reach, and archived ones only if they are named', async () => {
    const projects = []
    for (let n = 0; n < 3; n++) {
      const project = await service.given.project()
      await service.post('/api/tasks', { title: 'A', listId: project.inbox.id })
      projects.push(project.id)
    }
    const [mine, archived, other] = projects
    await service.post(`/api/projects/${archived}/archive`)
    const key = await service.given.key({ projectId: mine })

    const opened = async (query: string, options?: { key: string }) =>
      totalOf((await overviewOf(query, options)).weeks, 'opened').api
    expect(await opened('', { key })).toBe(1)
    expect(codeOf(await service.get(`/api/overview?projectId=${other}`, { key }))).toEqual([
      404,
      'project_not_found',
    ])
    expect(await opened(`projectId=${archived}`)).toBe(1)
    const before = (await opened('')) ?? 0
    await service.post(`/api/projects/${archived}/unarchive`)
    expect(await opened('')).toBe(before + 1)
  })

  test.each(['weeks=0', 'weeks=521', 'weeks=x', 'projectId=x', 'from=2026'])('refuses %s', async (query) => {
    expect(codeOf(await service.get(`/api/overview?${query}`))).toEqual([400, 'validation_failed'])
  })

  test('counts the tasks from before on the first request', async () => {
    const { id, inbox } = await service.given.project()
    await service.given.tasks(inbox, 5_000)
    await service.query('delete from overview_progress')

    const { body } = await service.get(`/api/overview?projectId=${id}`)

    expect(totalOf(body.weeks, 'opened')).toEqual({ api: 5_000 })
  })

  test('of another instance is counted while that is not done', async () => {
    await countAll(service)
    await service.query('update overview_progress set is_filled = false')
    const client = await service.connect()
    await client.query('begin')
    await client.query('select from overview_progress for update')
    const responding = service.get('/api/overview')
    await client.query('update overview_progress set is_filled = true')
    await client.query('commit')
    client.release()

    expect((await responding).status).toBe(200)
  })

  test('forgets weeks without tasks', async () => {
    const { inbox } = await service.given.project()
    const { body: task } = await service.post('/api/tasks', { title: 'A', listId: inbox.id, status: 'open' })
    await countAll(service)
    await service.delete(`/api/tasks/${task.id}`)
    await countAll(service)

    await service.service.cleanup.cleanUp()

    expect(await service.query('select from opened_weeks where project_id = $1', [inbox.projectId])).toEqual(
      [],
    )
  })

  test('is the same after an import', async () => {
    await countAll(service)
    const other = await startApp()
    await countAll(other)
    const imported = await importInto(other, await exported(service))
    expect(imported.status).toBe(200)

    await countAll(other)

    expect(await countedBy(other)).toEqual(await countedBy(service))
    await other.close()
  })
})
