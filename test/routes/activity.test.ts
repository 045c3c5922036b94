import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ApiResponse, startApp, type TestApp } from '../support/app.ts'
import { UNKNOWN_ID } from '../support/patterns.ts'

let service: TestApp
beforeAll(async () => {
  service = await startApp()
})
afterAll(() => service.close())

const log = (body: unknown, key?: string) => service.post('/api/activity', body, key ? { key } : {})
const errorsOf = (response: ApiResponse) =>
  response.body.errors?.map(({ path, code }: { path: string; code: string }) => `${path} ${code}`)

describe('logging an activity', () => {
  test('returns the activity and its location', async () => {
    const { body: me } = await service.get('/api/me')
    const before = Date.now()

    const response = await log({
      type: 'deploy.finished',
      message: 'Version 2.3.1 is out 🎉',
      metadata: { build: 812, deep: { er: [1, null] } },
    })

    expect(response.status).toBe(201)
    expect(response.headers.get('location')).toBe(`/api/activity/${response.body.id}`)
    expect(response.body).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/),
      type: 'deploy.finished',
      message: 'Version 2.3.1 is out 🎉',
      taskId: null,
      projectId: null,
      actor: { type: 'key', id: me.id, name: me.name },
      metadata: { build: 812, deep: { er: [1, null] } },
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    })
    expect(Date.parse(response.body.createdAt)).toBeGreaterThanOrEqual(before)
    expect((await service.get(response.headers.get('location') as string)).body).toEqual(response.body)
  })

  test('requires only a type', async () => {
    const { status, body } = await log({ type: 'x' })

    expect([status, body.message, body.metadata]).toEqual([201, null, {}])
  })

  test('treats null as omitted', async () => {
    const response = await log({ type: 'x', message: null, taskId: null, projectId: null })

    expect([response.status, response.body.projectId]).toEqual([201, null])
  })

  test.each([
    'a',
    '0',
    'a.b-c_d',
    'task',
    'tasks.done',
    'my.task.created',
    'keyboard',
    'comment',
    'x'.repeat(64),
  ])('accepts the type %s', async (type) => {
    expect((await log({ type })).status).toBe(201)
  })

  test.each([
    ...['task.created', 'task.', 'rule.x', 'key.created', 'sync.progress', 'feedback.received'],
    ...['comment.created', 'project.x', 'list.x', 'routing.x', 'connection.x', 'session.x'],
    ...['source.x', 'webhook.x'],
    ...['', 'Deploy', 'ä', 'a b', 'a/b', 'x'.repeat(65), 'a\n', 'Task.created'],
  ])('rejects the type %j', async (type) => {
    const response = await log({ type })

    expect([response.status, errorsOf(response)]).toEqual([400, ['/type wrong_format']])
  })

  test('names every reserved prefix', async () => {
    const [error] = (await log({ type: 'webhook.x' })).body.errors
    expect(error.message).toMatch(
      /begin with task\. rule\. key\. sync\. feedback\. comment\. project\. list\. routing\. connection\. session\. source\. webhook\. person\. invite\. identity\. grant\. pipe\.,/,
    )
  })

  test('returns all errors at once', async () => {
    const response = await log({
      type: 'task.created',
      message: 'x'.repeat(4_001),
      taskId: 'none',
      projectId: 5,
      metadata: [],
      nope: 1,
    })

    expect(response.status).toBe(400)
    expect(errorsOf(response).sort()).toEqual([
      '/message too_long',
      '/metadata wrong_type',
      '/nope unknown_field',
      '/projectId wrong_type',
      '/taskId wrong_format',
      '/type wrong_format',
    ])
    expect(errorsOf(await log({}))).toEqual(['/type required'])
    expect(errorsOf(await log({ type: 'x', message: 'a\0b' }))).toEqual(['/message invalid_text'])
    expect(errorsOf(await log({ type: 'x', metadata: { a: 'x'.repeat(16_384) } }))).toEqual([
      '/metadata invalid_json_value',
    ])
  })

  test('measures a message in characters', async () => {
    expect((await log({ type: 'x', message: '🔥'.repeat(4_000) })).status).toBe(201)
    expect((await log({ type: 'x', message: '🔥'.repeat(4_001) })).status).toBe(400)
  })

  test('about a task is about its project', async () => {
    const project = await service.given.project()
    const task = await service.given.task(project.inbox)

    for (const body of [{ taskId: task.id }, { taskId: task.id, projectId: project.id }]) {
      const response = await log({ type: 'x', ...body })
      expect(response.body).toMatchObject({ taskId: task.id, projectId: project.id })
    }
  })

  test('about a task and another project is rejected', async () => {
    const project = await service.given.project()
    const other = await service.given.project()
    const task = await service.given.task(project.inbox)

    const response = await log({ type: 'x', taskId: task.id, projectId: other.id })

    expect([response.status, errorsOf(response)]).toEqual([400, ['/projectId not_allowed']])
  })

  test('about an unknown task or project is 404', async () => {
    const project = await service.given.project()
    const hidden = await service.given.task(project.inbox, { deletedAt: new Date() })

    for (const [body, code] of [
      [{ taskId: UNKNOWN_ID }, 'task_not_found'],
      [{ taskId: hidden.id }, 'task_not_found'],
      [{ projectId: UNKNOWN_ID }, 'project_not_found'],
    ] as const) {
      const response = await log({ type: 'x', ...body })
      expect([response.status, response.body.code]).toEqual([404, code])
    }
  })

  test('about an archived project is 409', async () => {
    const project = await service.given.project({ archivedAt: new Date() })
    const task = await service.given.task(project.inbox)
    const key = await service.given.key({ projectId: project.id })

    for (const response of [
      await log({ type: 'x', projectId: project.id }),
      await log({ type: 'x', taskId: task.id }),
      await log({ type: 'x' }, key),
    ]) {
      expect([response.status, response.body.code]).toEqual([409, 'project_archived'])
    }
  })

  test('with a bound key is about its project, and never another', async () => {
    const project = await service.given.project()
    const other = await service.given.project()
    const task = await service.given.task(other.inbox)
    const key = await service.given.key({ projectId: project.id, scopes: ['activity:write'] })

    expect((await log({ type: 'x' }, key)).body.projectId).toBe(project.id)
    expect((await log({ type: 'x', projectId: project.id }, key)).status).toBe(201)
    expect((await log({ type: 'x', projectId: other.id }, key)).body.code).toBe('project_not_found')
    expect((await log({ type: 'x', taskId: task.id }, key)).body.code).toBe('task_not_found')
  })

  test('happens once for one Idempotency-Key', async () => {
    const project = await service.given.project()
    const send = () =>
      service.post(
        '/api/activity',
        { type: 'once', projectId: project.id },
        { headers: { 'idempotency-key': 'one' } },
      )

    const [first, second] = [await send(), await send()]

    expect([first.status, second.status, second.headers.get('idempotency-replayed')]).toEqual([
      201,
      201,
      'true',
    ])
    expect(second.body).toEqual(first.body)
    expect((await service.get(`/api/activity?projectId=${project.id}`)).body.data).toHaveLength(1)
  })
})

describe('an activity', () => {
  test('that does not exist, or is out of reach, is 404', async () => {
    const project = await service.given.project()
    const key = await service.given.key({ projectId: project.id })
    const mine = await service.given.activity({ projectId: project.id })
    const wide = await service.given.activity()

    expect((await service.get(`/api/activity/${UNKNOWN_ID}`)).body.code).toBe('activity_not_found')
    expect((await service.get(`/api/activity/${wide}`, { key })).body.code).toBe('activity_not_found')
    expect((await service.get(`/api/activity/${mine}`, { key })).status).toBe(200)
    expect((await service.get('/api/activity/1')).status).toBe(400)
  })

  test('cannot be changed or deleted', async () => {
    const id = await service.given.activity()

    for (const method of ['PUT', 'PATCH', 'DELETE']) {
      expect((await service.call(method, `/api/activity/${id}`)).status).toBe(405)
    }
  })
})
