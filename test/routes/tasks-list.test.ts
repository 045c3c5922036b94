import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'
import { UNKNOWN_ID } from '../support/patterns.ts'

let service: TestApp
beforeAll(async () => {
  service = await startApp()
})
afterAll(() => service.close())

const titles = (response: { body: { data: { title: string }[] } }) =>
  response.body.data.map(({ title }) => title)

describe('the list of tasks', () => {
  test('has the newest first and no deleted ones', async () => {
    const { id: projectId, inbox } = await service.given.project()
    for (const title of ['first', 'second', 'third', 'fourth']) await service.given.task(inbox, { title })
    await service.given.task(inbox, { title: 'deleted', deletedAt: new Date() })

    const page = await service.get(`/api/tasks?projectId=${projectId}`)

    expect(page.status).toBe(200)
    expect(titles(page)).toEqual(['fourth', 'third', 'second', 'first'])
    expect(page.body.nextCursor).toBeNull()
  })

  test('is empty without tasks', async () => {
    const { id } = await service.given.project()

    expect((await service.get(`/api/tasks?projectId=${id}`)).body).toEqual({ data: [], nextCursor: null })
  })

  test('has whole tasks, the same as single reads', async () => {
    const { id, inbox } = await service.given.project()
    const task = await service.given.task(inbox, { description: 'long', notes: 'short', metadata: { a: 1 } })

    for (const fields of ['', '&fields=all']) {
      const page = await service.get(`/api/tasks?projectId=${id}${fields}`)
      expect(page.body.data).toEqual([(await service.get(`/api/tasks/${task.id}`)).body])
    }
  })

  test('omits the long fields in a summary', async () => {
    const { id, inbox } = await service.given.project()
    const task = await service.given.task(inbox, { description: 'long', notes: 'short', metadata: { a: 1 } })

    const page = await service.get(`/api/tasks?projectId=${id}&fields=summary`)

    const {
      description: _,
      notes: __,
      metadata: ___,
      ...rest
    } = (await service.get(`/api/tasks/${task.id}`)).body
    expect(page.body.data).toEqual([rest])
  })

  test('returns 50 without a limit, and 200 at most', async () => {
    const { id: projectId, inbox } = await service.given.project()
    const batch = Array.from({ length: 100 }, () => ({ title: 'A task' }))
    for (let i = 0; i < 3; i++) await service.post('/api/tasks/bulk', { listId: inbox.id, tasks: batch })

    const sizes = []
    for (const limit of ['', '&limit=1', '&limit=200']) {
      sizes.push((await service.get(`/api/tasks?projectId=${projectId}${limit}`)).body.data.length)
    }

    expect(sizes).toEqual([50, 1, 200])
  })

  test('shows a bound key only its own project', async () => {
    const [mine, theirs] = [await service.given.project(), await service.given.project()]
    const key = await service.given.key({ projectId: mine.id })
    await service.given.task(mine.inbox, { title: 'mine' })
    await service.given.task(theirs.inbox, { title: 'theirs' })

    expect(titles(await service.get('/api/tasks', { key }))).toEqual(['mine'])
    expect(await service.get(`/api/tasks?projectId=${theirs.id}`, { key })).toMatchObject({
      status: 404,
      body: { code: 'project_not_found' },
    })
    expect(await service.get(`/api/tasks?listId=${theirs.inbox.id}`, { key })).toMatchObject({
      status: 404,
      body: { code: 'list_not_found' },
    })
  })

  test('of an unknown project or list is 404', async () => {
    expect((await service.get(`/api/tasks?projectId=${UNKNOWN_ID}`)).body).toMatchObject({
      status: 404,
      code: 'project_not_found',
    })
    expect((await service.get(`/api/tasks?listId=${UNKNOWN_ID}`)).body).toMatchObject({
      status: 404,
      code: 'list_not_found',
    })
  })
})

describe('a filter', () => {
  let projectId: string
  let listId: string
  beforeAll(async () => {
    const project = await service.given.project()
    const list = await service.given.list(project.id)
    projectId = project.id
    listId = list.id
    const dayOf = (day: number) => new Date(Date.UTC(2026, 0, day))
    const row = (title: string, values: Parameters<typeof service.given.task>[1]) =>
      service.given.task(values?.listId ? list : project.inbox, { title, ...values })
    await row('a', {
      priority: 1,
      source: 'api',
      labels: ['crash', 'ios'],
      assignees: ['Ada', 'bob'],
      externalId: 'x-1',
      createdAt: new Date('2020-03-01T00:00:00.000Z'),
      openedAt: dayOf(1),
      updatedAt: dayOf(1),
    })
    await row('b', {
      priority: 2,
      source: 'analytics',
      labels: ['Crash'],
      assignees: ['ada'],
      externalId: 'X-1',
      updatedAt: dayOf(2),
    })
    await row('c', {
      priority: 3,
      status: 'in_progress',
      source: 'dashboard',
      externalId: 'x-1',
      updatedAt: dayOf(3),
      listId,
    })
    await row('d', {
      status: 'done',
      completedAt: dayOf(4),
      source: 'assistant',
      updatedAt: dayOf(4),
      listId,
    })
    await row('e', {
      source: 'codehost',
      codehostRepositoryId: 1,
      codehostNumber: 12,
      codehostKind: 'pull_request',
      labels: ['ios', 'a,b'],
      updatedAt: dayOf(5),
    })
    await row('f', {
      source: 'codehost',
      codehostRepositoryId: 2,
      codehostNumber: 12,
      codehostKind: 'issue',
      openedAt: new Date('2019-05-02T10:00:00.000Z'),
      updatedAt: dayOf(6),
    })
  })

  test.each([
    ['status=open', 'abef'],
    ['status=in_progress', 'c'],
    ['status=done', 'd'],
    ['status=done&status=in_progress', 'cd'],
    ['source=api', 'a'],
    ['source=codehost&source=analytics', 'bef'],
    ['priority=low', 'a'],
    ['priority=medium', 'bdef'],
    ['priority=high&priority=low', 'ac'],
    ['label=crash', 'ab'],
    ['label=ios', 'ae'],
    ['label=Crash&label=ios', 'abe'],
    ['label=a,b', 'e'],
    ['label=nobody', ''],
    ['label=none', 'cdf'],
    ['label=none&label=crash', 'abcdf'],
    ['assignee=ADA', 'ab'],
    ['assignee=bob', 'a'],
    ['assignee=bo', ''],
    ['assignee=none', 'cdef'],
    ['assignee=none&assignee=bob', 'acdef'],
    ['externalId=x-1', 'ac'],
    ['externalId=X-1&externalId=x-2', 'b'],
    ['kind=issue', 'f'],
    ['kind=pull_request', 'e'],
    ['codehostIssueNumber=12', 'f'],
    ['codehostIssueNumber=13', ''],
    ['codehostIssueNumber=12&codehostPrNumber=12', ''],
    ['q=%2312', 'ef'],
    ['q=%2312%20e', 'e'],
    ['q=%2313', ''],
    ['createdSince=2020-03-01T00:00:00.000Z', 'abcdef'],
    ['createdSince=2020-03-01T00:00:00.001Z', 'bcdef'],
    ['createdSince=9999-12-31T23:59:59.999Z', ''],
    ['codehostPrNumber=12', 'e'],
    ['codehostPrNumber=13', ''],
    ['updatedSince=2026-01-05T00:00:00.000Z', 'ef'],
    ['updatedSince=2026-01-05T00:00:00.001Z', 'f'],
    ['updatedSince=2026-01-04T23:00:00-01:00', 'ef'],
    ['updatedSince=2026-01-05T02:00:00%2B02:00', 'ef'],
    ['updatedSince=0001-01-01T00:00:00Z', 'abcdef'],
    ['updatedSince=9999-12-31T23:59:59.999Z', ''],
    ['openedSince=2019-05-02T10:00:00.000Z', 'abcdef'],
    ['openedSince=2019-05-02T10:00:00.001Z', 'abcde'],
    ['openedSince=9999-12-31T23:59:59.999Z', ''],
    ['status=open&source=codehost&label=ios&priority=medium&updatedSince=2026-01-01T00:00:00Z', 'e'],
    ['status=open&priority=high', ''],
  ])('%s keeps %j', async (filter, kept) => {
    const page = await service.get(`/api/tasks?projectId=${projectId}&${filter}&sort=createdAt`)

    expect([page.status, titles(page).join('')]).toEqual([200, kept])
  })

  test('of a list keeps the tasks of that list', async () => {
    expect(titles(await service.get(`/api/tasks?listId=${listId}&sort=createdAt`))).toEqual(['c', 'd'])
    expect(
      titles(await service.get(`/api/tasks?projectId=${projectId}&listId=${listId}&status=done`)),
    ).toEqual(['d'])
  })

  test('is counted with count=true, on each page', async () => {
    const path = `/api/tasks?projectId=${projectId}&source=codehost&count=true&limit=1`
    const page = await service.get(path)
    const last = await service.get(`${path}&cursor=${page.body.nextCursor}`)

    for (const { body } of [page, last]) expect(body).toMatchObject({ total: 2, totalIsExact: true })
    expect(last.body.nextCursor).toBeNull()
    const none = await service.get(`/api/tasks?projectId=${projectId}&assignee=nobody&count=true`)
    expect(none.body).toEqual({ data: [], nextCursor: null, total: 0, totalIsExact: true })
  })

  test.each([
    ['kind=pr', 'query.kind'],
    ['assignee=', 'query.assignee'],
    ['codehostIssueNumber=0', 'query.codehostIssueNumber'],
    ['createdSince=yesterday', 'query.createdSince'],
    ['count=many', 'query.count'],
  ])('%s is rejected', async (filter, path) => {
    const refused = await service.get(`/api/tasks?${filter}`)

    expect(refused).toMatchObject({ status: 400, body: { errors: [{ path }] } })
  })

  test('applies before the page is cut', async () => {
    const page = await service.get(`/api/tasks?projectId=${projectId}&source=codehost&limit=1&sort=createdAt`)
    const next = await service.get(
      `/api/tasks?projectId=${projectId}&source=codehost&limit=1&sort=createdAt&cursor=${page.body.nextCursor}`,
    )

    expect([titles(page), titles(next), next.body.nextCursor]).toEqual([['e'], ['f'], null])
  })
})
