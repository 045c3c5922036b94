import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'
import { TIMESTAMP, UNKNOWN_ID, UUID } from '../support/patterns.ts'

let service: TestApp
beforeAll(async () => {
  service = await startApp()
})
afterAll(() => service.close())

describe('a new task', () => {
  test('requires only a title; everything else has its default', async () => {
    const me = await service.get('/api/me')

    const made = await service.post('/api/tasks', { title: 'Crash when saving' })

    expect(made.status).toBe(201)
    expect(made.body).toEqual({
      id: expect.stringMatching(UUID),
      title: 'Crash when saving',
      description: null,
      descriptionReadOnly: true,
      status: 'open',
      priority: 'medium',
      source: 'api',
      sourceId: null,
      projectId: expect.stringMatching(UUID),
      listId: expect.stringMatching(UUID),
      externalId: null,
      externalUrl: null,
      labels: [],
      assignees: [],
      codehostIssueNumber: null,
      codehostPrNumber: null,
      closedReason: null,
      sourceState: 'present',
      mergedInto: null,
      reports: 1,
      blockedBy: [],
      isReady: true,
      commentCount: 0,
      writeBack: null,
      question: null,
      noteKey: null,
      claim: null,
      author: null,
      isDraft: null,
      notes: null,
      metadata: {},
      createdBy: { type: 'key', id: me.body.id, name: me.body.name },
      createdAt: expect.stringMatching(TIMESTAMP),
      openedAt: made.body.createdAt,
      updatedAt: made.body.createdAt,
      completedAt: null,
      version: 1,
      triaged: false,
      snoozedUntil: null,
    })
  })

  test('returns its location and version', async () => {
    const made = await service.post('/api/tasks', { title: 'A task' })

    expect(made.headers.get('location')).toBe(`/api/tasks/${made.body.id}`)
    expect(made.headers.get('etag')).toBe('"1"')
    const read = await service.get(made.headers.get('location') ?? '')
    expect(read.status).toBe(200)
    expect(read.headers.get('etag')).toBe('"1"')
    expect(read.body).toEqual(made.body)
  })

  test('keeps every field of the request', async () => {
    const { inbox } = await service.given.project()
    const first = await service.given.task(inbox)
    const given = {
      title: 'Crash when saving',
      description: '## Steps\r\n1. open\n2. save\t*bang*',
      priority: 'high',
      listId: inbox.id,
      externalId: 'sentry-4711',
      externalUrl: 'https://bugs.example.com/4711?a=b#c',
      labels: ['crash', 'ünï'],
      assignees: ['ada', 'grace hopper'],
      blockedBy: [first.id],
      metadata: { build: 812, nested: { list: [1, 'two', null, true, 1.5e300] } },
    }

    const made = await service.post('/api/tasks', { ...given, source: 'api' })

    expect(made.status).toBe(201)
    expect(made.body).toMatchObject(given)
    expect((await service.get(`/api/tasks/${made.body.id}`)).body).toEqual(made.body)
  })

  test.each([
    'plain',
    '日本語 العربية עברית',
    '👩‍👩‍👧‍👦🏳️‍🌈 four bytes and joiners',
    'e\u0301 is not é',
    `quotes " ' \` and \\ and </script> and ; drop table tasks; --`,
    '\u200bzero width\u200b',
    'line\u2028separators\u2029inside',
    '\u0001 control \u007f characters \u009f',
    '\ufffe\uffff nonCharacters',
    '{}[]:,"\\u0000"',
    '%s %n {0} $1 $$ \\1',
  ])('is returned character by character: %j', async (text) => {
    const made = await service.post('/api/tasks', {
      title: text,
      description: text,
      externalId: `exactly ${text}`,
      labels: [text],
      metadata: { [text]: text },
    })

    expect(made.status).toBe(201)
    const { body } = await service.get(`/api/tasks/${made.body.id}`)
    // Labels are compared, so both spellings of a letter are stored as one.
    const labels = [text.normalize('NFC')]
    expect(body).toMatchObject({ title: text, description: text, labels, metadata: { [text]: text } })
  })

  test('has the space around its title, labels and assignees trimmed, and no other', async () => {
    const made = await service.post('/api/tasks', {
      title: ' \t A  title \n',
      description: '  as it came  ',
      labels: [' crash '],
      assignees: ['\u00a0ada\u3000'],
    })

    expect(made.body).toMatchObject({
      title: 'A  title',
      description: '  as it came  ',
      labels: ['crash'],
      assignees: ['ada'],
    })
  })

  test('records an activity with its actor', async () => {
    const key = await service.given.key({ name: 'the reporter' })

    const { body } = await service.post('/api/tasks', { title: 'A task' }, { key })

    expect(await service.query('select * from activity where task_id = $1', [body.id])).toEqual([
      expect.objectContaining({
        type: 'task.created',
        project_id: body.projectId,
        actor_type: 'key',
        actor_id: body.createdBy.id,
        actor_name: 'the reporter',
        created_at: new Date(body.createdAt),
      }),
    ])
  })
})

describe('the list of a new task', () => {
  test('is the default list of "Inbox" when none is named', async () => {
    const { body } = await service.post('/api/tasks', { title: 'A task' })

    const [inbox] = await service.query(
      'select l.id, l.project_id from lists l join projects p on p.id = l.project_id where p.is_default and l.is_default',
    )
    expect([body.listId, body.projectId]).toEqual([inbox.id, inbox.project_id])
  })

  test('is the default list of the project the key is bound to', async () => {
    const project = await service.given.project()
    await service.given.list(project.id)
    const key = await service.given.key({ projectId: project.id })

    const { body } = await service.post('/api/tasks', { title: 'A task' }, { key })

    expect([body.listId, body.projectId]).toEqual([project.inbox.id, project.id])
  })

  test('is the named one, also in upper case', async () => {
    const project = await service.given.project()
    const list = await service.given.list(project.id)

    const { body } = await service.post('/api/tasks', { title: 'A task', listId: list.id.toUpperCase() })

    expect([body.listId, body.projectId]).toEqual([list.id, project.id])
  })

  test('must exist', async () => {
    const refused = await service.post('/api/tasks', { title: 'A task', listId: UNKNOWN_ID })

    expect(refused).toMatchObject({ status: 404, body: { code: 'list_not_found' } })
    expect(refused.body.detail).toContain(UNKNOWN_ID)
  })

  test('must be in the project the key is bound to', async () => {
    const [mine, theirs] = [await service.given.project(), await service.given.project()]
    const key = await service.given.key({ projectId: mine.id })

    const refused = await service.post('/api/tasks', { title: 'A task', listId: theirs.inbox.id }, { key })

    expect(refused).toMatchObject({ status: 404, body: { code: 'list_not_found' } })
  })

  test('must not be in an archived project, whose tasks can still be read', async () => {
    const { inbox } = await service.given.project({ name: 'Old days', archivedAt: new Date() })
    const task = await service.given.task(inbox)

    const refused = await service.post('/api/tasks', { title: 'A task', listId: inbox.id })

    expect(refused).toMatchObject({ status: 409, body: { code: 'project_archived' } })
    expect(refused.body.detail).toContain('Old days')
    expect((await service.get(`/api/tasks/${task.id}`)).status).toBe(200)
  })
})

describe('a task', () => {
  test('that does not exist is 404', async () => {
    const refused = await service.get(`/api/tasks/${UNKNOWN_ID}`)

    expect(refused).toMatchObject({ status: 404, body: { code: 'task_not_found' } })
    expect(refused.body.detail).toContain(UNKNOWN_ID)
  })

  test('of another project does not exist for a key bound to one', async () => {
    const [mine, theirs] = [await service.given.project(), await service.given.project()]
    const key = await service.given.key({ projectId: mine.id })
    const seen = await service.given.task(mine.inbox)
    const unseen = await service.given.task(theirs.inbox)

    expect((await service.get(`/api/tasks/${seen.id}`, { key })).status).toBe(200)
    for (const response of [
      await service.get(`/api/tasks/${unseen.id}`, { key }),
      await service.patch(`/api/tasks/${unseen.id}`, { title: 'Mine now' }, { key }),
      await service.delete(`/api/tasks/${unseen.id}`, { key }),
      await service.post(`/api/tasks/${unseen.id}/restore`, undefined, { key }),
    ]) {
      expect(response).toMatchObject({ status: 404, body: { code: 'task_not_found' } })
    }
  })

  test('has the number of its issue or of its pull request', async () => {
    const { inbox } = await service.given.project()
    const from = (codehostKind: 'issue' | 'pull_request') =>
      service.given.task(inbox, {
        source: 'codehost',
        codehostKind,
        codehostRepositoryId: 9_007_199_254_740_991,
        codehostNumber: codehostKind === 'issue' ? 7 : 8,
      })
    const [issue, pull] = [await from('issue'), await from('pull_request')]

    expect((await service.get(`/api/tasks/${issue.id}`)).body).toMatchObject({
      codehostIssueNumber: 7,
      codehostPrNumber: null,
    })
    expect((await service.get(`/api/tasks/${pull.id}`)).body).toMatchObject({
      codehostIssueNumber: null,
      codehostPrNumber: 8,
    })
  })
})
