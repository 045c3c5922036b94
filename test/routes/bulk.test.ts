import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { FieldError } from '../../src/errors/index.ts'
import type { BulkItem } from '../../src/schemas/bulk.ts'
import type { Task } from '../../src/schemas/task.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { countIn } from '../support/counts.ts'
import { UNKNOWN_ID } from '../support/patterns.ts'

const MODES = ['', '?onError=abort', '?onError=continue']

let service: TestApp
beforeAll(async () => {
  service = await startApp()
})
afterAll(() => service.close())

const many = (count: number) => Array.from({ length: count }, (_, n) => ({ title: `Task ${n}` }))

describe('a batch', () => {
  test('creates every task as a single create would, in the order of the request', async () => {
    const { id: projectId, inbox } = await service.given.project()
    const tasks = [
      { title: ' Plain ' },
      {
        title: 'Full',
        description: 'A story',
        source: 'api',
        priority: 'low',
        externalId: 'x-1',
        externalUrl: 'https://a.example/1',
        labels: [' a '],
        assignees: ['ada'],
        metadata: { a: [1] },
      },
      { title: 'Nulls', description: null, externalId: null, externalUrl: null },
    ]

    const made = await service.post('/api/tasks/bulk', { listId: inbox.id, tasks })

    expect(made.status).toBe(201)
    expect(made.body).toMatchObject({ created: 3, existing: 0 })
    expect(made.body.data).toMatchObject([
      { title: 'Plain', priority: 'medium', labels: [], projectId, listId: inbox.id },
      { title: 'Full', labels: ['a'] },
      { title: 'Nulls', externalId: null, externalUrl: null },
    ])
    const read = `/api/tasks?listId=${inbox.id}&sort=createdAt`
    expect((await service.get(`${read}&fields=summary`)).body.data).toEqual(made.body.data)
    expect((await service.get(read)).body.data).toMatchObject([
      { description: null, notes: null, metadata: {} },
      { ...tasks[1], labels: ['a'] },
      { description: null },
    ])
  })

  test.each(MODES)('of one and of a hundred is accepted: %j', async (mode) => {
    for (const count of [1, 100]) {
      const { id, inbox } = await service.given.project()

      const made = await service.post(`/api/tasks/bulk${mode}`, { listId: inbox.id, tasks: many(count) })

      expect([made.status, made.body.created]).toEqual([mode === MODES[2] ? 207 : 201, count])
      expect(await countIn(service, id)).toEqual({ tasks: count, activities: count })
    }
  })

  test.each(MODES)('of none and of 101 is rejected as a whole: %j', async (mode) => {
    const { id, inbox } = await service.given.project()

    for (const [count, code] of [
      [0, 'too_few'],
      [101, 'too_many'],
    ] as const) {
      const refused = await service.post(`/api/tasks/bulk${mode}`, { listId: inbox.id, tasks: many(count) })

      expect(refused.status).toBe(400)
      expect(refused.body).toMatchObject({ code: 'validation_failed', errors: [{ path: '/tasks', code }] })
    }
    expect(await countIn(service, id)).toEqual({ tasks: 0, activities: 0 })
  })

  test('finds existing tasks by externalId, and counts them', async () => {
    const { id, inbox } = await service.given.project()
    const old = await service.post('/api/tasks', { title: 'Old', listId: inbox.id, externalId: 'old' })

    const made = await service.post('/api/tasks/bulk', {
      listId: inbox.id,
      tasks: [
        { title: 'New', externalId: 'new' },
        { title: 'Old?', externalId: 'old' },
      ],
    })

    expect([made.status, made.body.created, made.body.existing]).toEqual([201, 1, 1])
    expect(made.body.data).toMatchObject([{ title: 'New' }, { id: old.body.id, title: 'Old', version: 1 }])
    expect(await countIn(service, id)).toEqual({ tasks: 2, activities: 2 })
  })

  test('that has one externalId twice creates one task, the first', async () => {
    const { id, inbox } = await service.given.project()
    const tasks = [
      { title: 'First', externalId: 'same' },
      { title: 'Other', externalId: 'a' },
      { title: 'Second', externalId: 'same' },
      { title: 'Third', externalId: 'same' },
    ]

    const made = await service.post('/api/tasks/bulk', { listId: inbox.id, tasks })

    expect([made.status, made.body.created, made.body.existing]).toEqual([201, 2, 2])
    expect(made.body.data.map(({ title }: Task) => title)).toEqual(['First', 'Other', 'First', 'First'])
    expect(new Set(made.body.data.map(({ id }: Task) => id)).size).toBe(2)
    expect(await countIn(service, id)).toEqual({ tasks: 2, activities: 2 })
  })

  test('for an unknown, foreign or archived list is rejected as a whole', async () => {
    const [mine, theirs] = [await service.given.project(), await service.given.project()]
    const old = await service.given.project({ archivedAt: new Date() })
    const key = await service.given.key({ projectId: mine.id })

    for (const mode of MODES) {
      for (const [listId, options, status, code] of [
        [UNKNOWN_ID, {}, 404, 'list_not_found'],
        [theirs.inbox.id, { key }, 404, 'list_not_found'],
        [old.inbox.id, {}, 409, 'project_archived'],
      ] as const) {
        const refused = await service.post(`/api/tasks/bulk${mode}`, { listId, tasks: many(2) }, options)
        expect(refused).toMatchObject({ status, body: { code } })
      }
    }
    expect(await countIn(service, theirs.id)).toEqual({ tasks: 0, activities: 0 })
  })

  test('does not accept a list in one of its items', async () => {
    const { inbox } = await service.given.project()

    const refused = await service.post('/api/tasks/bulk', {
      listId: inbox.id,
      tasks: [{ title: 'A', listId: inbox.id }],
    })

    expect(refused.body.errors).toMatchObject([{ path: '/tasks/0/listId', code: 'unknown_field' }])
  })

  test('of as many maximal descriptions of the widest characters as fit is accepted', async () => {
    const { inbox } = await service.given.project()
    const description = '🔥'.repeat(65_536)
    const tasks = many(15).map((task) => ({ ...task, description }))

    const made = await service.post('/api/tasks/bulk', { listId: inbox.id, tasks })

    expect([made.status, made.body.created]).toEqual([201, 15])
    const [stored] = await service.query(
      'select count(*)::int as n from tasks where list_id = $1 and description = $2',
      [inbox.id, description],
    )
    expect(stored.n).toBe(15)
  })
})

describe('a batch with invalid items', () => {
  const bad = [
    { title: 'Good' },
    { title: '' },
    { description: 'no title' },
    { title: 'Good too', externalId: 'good' },
    { title: 'x'.repeat(501), priority: 'urgent', nope: 1 },
    null,
    'text',
    [],
    { title: 'NUL', labels: ['a', 'b\0'] },
    { title: 'Deep', metadata: { a: '\ud800' } },
    { title: 'From elsewhere', source: 'codehost' },
  ]
  const named = [
    '/tasks/1/title',
    '/tasks/2/title',
    '/tasks/4/nope',
    '/tasks/4/priority',
    '/tasks/4/title',
    '/tasks/5',
    '/tasks/6',
    '/tasks/7',
    '/tasks/8/labels/1',
    '/tasks/9/metadata',
    '/tasks/10/source',
  ]

  test.each(MODES.slice(0, 2))('names every invalid item and creates nothing: %j', async (mode) => {
    const { id, inbox } = await service.given.project()

    const refused = await service.post(`/api/tasks/bulk${mode}`, { listId: inbox.id, tasks: bad })

    expect(refused.status).toBe(400)
    expect(refused.body.code).toBe('validation_failed')
    expect(refused.body.errors.map(({ path }: FieldError) => path).sort()).toEqual(named.toSorted())
    expect(await countIn(service, id)).toEqual({ tasks: 0, activities: 0 })
  })

  test('creates the valid ones with onError=continue, with a result for each', async () => {
    const { id, inbox } = await service.given.project()
    const old = await service.post('/api/tasks', { title: 'Old', listId: inbox.id, externalId: 'good' })

    const response = await service.post('/api/tasks/bulk?onError=continue', { listId: inbox.id, tasks: bad })

    expect(response.status).toBe(207)
    expect(response.body).toMatchObject({ created: 1, existing: 1, failed: 9 })
    expect(response.body.results).toHaveLength(bad.length)
    expect(response.body.results.map(({ index }: BulkItem) => index)).toEqual(bad.map((_, index) => index))
    expect(response.body.results[0]).toMatchObject({ status: 'created', task: { title: 'Good' } })
    expect(response.body.results[3]).toMatchObject({
      index: 3,
      status: 'existing',
      task: { id: old.body.id },
    })
    const failed = response.body.results.filter(({ status }: BulkItem) => status === 'failed')
    expect(failed.every((result: object) => !('task' in result))).toBe(true)
    expect(failed.flatMap(({ errors = [] }: BulkItem) => errors.map(({ path }) => path)).sort()).toEqual(
      named.toSorted(),
    )
    expect(await countIn(service, id)).toEqual({ tasks: 2, activities: 2 })
  })

  test('of which none is valid has a result for each with onError=continue', async () => {
    const { id, inbox } = await service.given.project()

    const response = await service.post('/api/tasks/bulk?onError=continue', {
      listId: inbox.id,
      tasks: Array(100).fill({ title: 5 }),
    })

    expect(response.status).toBe(207)
    expect(response.body).toMatchObject({ created: 0, existing: 0, failed: 100 })
    expect(await countIn(service, id)).toEqual({ tasks: 0, activities: 0 })
  })

  test('lists a hundred errors and counts the rest', async () => {
    const { inbox } = await service.given.project()
    const item = Object.fromEntries(Array.from({ length: 250 }, (_, n) => [`nope${n}`, n]))

    const refused = await service.post('/api/tasks/bulk', {
      listId: inbox.id,
      tasks: Array(4).fill({ title: 'A', ...item }),
    })

    expect(refused.body.errors).toHaveLength(100)
    expect(refused.body.errorsOmitted).toBe(900)
  })

  test('rejects unknown values of onError', async () => {
    const { inbox } = await service.given.project()

    const refused = await service.post('/api/tasks/bulk?onError=ignore', { listId: inbox.id, tasks: many(1) })

    expect(refused.body.errors).toMatchObject([{ path: 'query.onError', code: 'not_allowed' }])
  })
})
