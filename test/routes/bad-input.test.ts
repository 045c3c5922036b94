import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { FieldError } from '../../src/errors/index.ts'
import { startApp, type TestApp } from '../support/app.ts'

let service: TestApp
let taskPath: string
let listId: string
beforeAll(async () => {
  service = await startApp()
  const { body } = await service.post('/api/tasks', { title: 'A task' })
  taskPath = `/api/tasks/${body.id}`
  listId = body.listId
})
afterAll(() => service.close())

type Row = [what: string, body: Record<string, unknown>, path: string, code: string]

const fire = (count: number) => '🔥'.repeat(count)
const nested = (levels: number): object => (levels === 1 ? {} : { a: nested(levels - 1) })

/** Wrong for a new task and for a change alike. */
const INVALID_ANYWHERE: Row[] = [
  ['a number for a title', { title: 5 }, '/title', 'wrong_type'],
  ['a boolean for a title', { title: true }, '/title', 'wrong_type'],
  ['null for a title', { title: null }, '/title', 'wrong_type'],
  ['a list for a title', { title: ['A'] }, '/title', 'wrong_type'],
  ['an object for a title', { title: { toString: 'A' } }, '/title', 'wrong_type'],
  ['an empty title', { title: '' }, '/title', 'too_short'],
  ['a blank title', { title: ' \t\r\n\u00a0\u3000 ' }, '/title', 'too_short'],
  ['a title of 501 letters', { title: 'x'.repeat(501) }, '/title', 'too_long'],
  ['a title of 501 emoji', { title: fire(501) }, '/title', 'too_long'],
  ['a NUL in the title', { title: 'a\0b' }, '/title', 'invalid_text'],
  ['half a pair in the title', { title: 'a\ud83d' }, '/title', 'invalid_text'],
  ['the other half in the title', { title: '\udd25b' }, '/title', 'invalid_text'],
  ['a pair the wrong way round', { title: '\udd25\ud83d' }, '/title', 'invalid_text'],
  ['a number for a description', { description: 0 }, '/description', 'wrong_type'],
  ['a description of 65,537 emoji', { description: fire(65_537) }, '/description', 'too_long'],
  ['a NUL in the description', { description: '\0' }, '/description', 'invalid_text'],
  ['half a pair in the description', { description: '\ud800' }, '/description', 'invalid_text'],
  ['an unknown priority', { priority: 'urgent' }, '/priority', 'not_allowed'],
  ['a priority in capitals', { priority: 'HIGH' }, '/priority', 'not_allowed'],
  ['a number for a priority', { priority: 1 }, '/priority', 'wrong_type'],
  ['null for a priority', { priority: null }, '/priority', 'wrong_type'],
  ['a list id that is no UUID', { listId: 'inbox' }, '/listId', 'wrong_format'],
  ['a list id in braces', { listId: '{019aa3d2-6f4e-7cc0-a1b2-3c4d5e6f7081}' }, '/listId', 'wrong_format'],
  ['a list id without dashes', { listId: '019aa3d26f4e7cc0a1b23c4d5e6f7081' }, '/listId', 'wrong_format'],
  ['an empty list id', { listId: '' }, '/listId', 'wrong_format'],
  ['null for a list id', { listId: null }, '/listId', 'wrong_type'],
  ['21 labels', { labels: Array(21).fill('a') }, '/labels', 'too_many'],
  ['text for labels', { labels: 'a' }, '/labels', 'wrong_type'],
  ['null for labels', { labels: null }, '/labels', 'wrong_type'],
  ['an object for labels', { labels: { 0: 'a' } }, '/labels', 'wrong_type'],
  ['a number among labels', { labels: ['a', 5] }, '/labels/1', 'wrong_type'],
  ['null among labels', { labels: [null] }, '/labels/0', 'wrong_type'],
  ['a blank label', { labels: ['a', 'b', ' '] }, '/labels/2', 'too_short'],
  ['a label of 101 emoji', { labels: [fire(101)] }, '/labels/0', 'too_long'],
  ['a NUL in a label', { labels: ['a\0'] }, '/labels/0', 'invalid_text'],
  ['half a pair in a label', { labels: ['\udfff'] }, '/labels/0', 'invalid_text'],
  ['21 assignees', { assignees: Array(21).fill('a') }, '/assignees', 'too_many'],
  ['a blank assignee', { assignees: [''] }, '/assignees/0', 'too_short'],
  ['an assignee of 101 emoji', { assignees: [fire(101)] }, '/assignees/0', 'too_long'],
  ['a NUL in an assignee', { assignees: ['\0'] }, '/assignees/0', 'invalid_text'],
  ['a script for an address', { externalUrl: 'javascript:alert(1)' }, '/externalUrl', 'wrong_format'],
  ['a data address', { externalUrl: 'data:text/html,x' }, '/externalUrl', 'wrong_format'],
  ['an ftp address', { externalUrl: 'ftp://a.example/' }, '/externalUrl', 'wrong_format'],
  ['an address without a scheme', { externalUrl: '//a.example/' }, '/externalUrl', 'wrong_format'],
  ['a path for an address', { externalUrl: '/4711' }, '/externalUrl', 'wrong_format'],
  ['an address without a host', { externalUrl: 'https://' }, '/externalUrl', 'wrong_format'],
  ['a space in an address', { externalUrl: 'https://a.example/a b' }, '/externalUrl', 'wrong_format'],
  ['a space before an address', { externalUrl: ' https://a.example/' }, '/externalUrl', 'wrong_format'],
  ['a line break in an address', { externalUrl: 'https://a.example/\n' }, '/externalUrl', 'wrong_format'],
  ['an empty address', { externalUrl: '' }, '/externalUrl', 'wrong_format'],
  ['a NUL in an address', { externalUrl: 'https://a.example/\0' }, '/externalUrl', 'invalid_text'],
  [
    'an address of 2,049',
    { externalUrl: `https://a.example/${'x'.repeat(2031)}` },
    '/externalUrl',
    'too_long',
  ],
  ['a list for metadata', { metadata: [] }, '/metadata', 'wrong_type'],
  ['null for metadata', { metadata: null }, '/metadata', 'wrong_type'],
  ['text for metadata', { metadata: '{}' }, '/metadata', 'wrong_type'],
  ['metadata over 16 KiB', { metadata: { a: 'x'.repeat(16_377) } }, '/metadata', 'invalid_json_value'],
  ['metadata over 16 KiB in UTF-8', { metadata: { a: fire(4095) } }, '/metadata', 'invalid_json_value'],
  ['metadata of eleven levels', { metadata: nested(11) }, '/metadata', 'invalid_json_value'],
  ['lists eleven deep', { metadata: { a: [[[[[[[[[[]]]]]]]]]] } }, '/metadata', 'invalid_json_value'],
  ['a NUL in metadata', { metadata: { a: [{ b: '\0' }] } }, '/metadata', 'invalid_json_value'],
  ['a NUL in a name in metadata', { metadata: { a: { 'b\0': 1 } } }, '/metadata', 'invalid_json_value'],
  ['half a pair in metadata', { metadata: { a: '\ud83d' } }, '/metadata', 'invalid_json_value'],
  ['half a pair in a name in metadata', { metadata: { '\udd25': 1 } }, '/metadata', 'invalid_json_value'],
  ['an unknown member', { nope: 1 }, '/nope', 'unknown_field'],
  ['a member the service sets', { createdAt: '2026-01-01T00:00:00.000Z' }, '/createdAt', 'unknown_field'],
  ['a member with a slash', { 'a/b~c': 1 }, '/a~1b~0c', 'unknown_field'],
  ['a member without a name', { '': 1 }, '/', 'unknown_field'],
  ['a member named like a method', { toString: 1 }, '/toString', 'unknown_field'],
  ['a constructor', { constructor: 1 }, '/constructor', 'unknown_field'],
  ['a member in another case', { Title: 'A' }, '/Title', 'unknown_field'],
]

const INVALID_NEW_TASKS: Row[] = [
  ['a source of another interface', { source: 'dashboard' }, '/source', 'not_allowed'],
  ['null for a source', { source: null }, '/source', 'wrong_type'],
  ['an empty externalId', { externalId: '' }, '/externalId', 'too_short'],
  ['a number for an externalId', { externalId: 4711 }, '/externalId', 'wrong_type'],
  ['an externalId of 256 emoji', { externalId: fire(256) }, '/externalId', 'too_long'],
  ['a NUL in an externalId', { externalId: 'a\0' }, '/externalId', 'invalid_text'],
  ['a status', { status: 'done' }, '/status', 'unknown_field'],
  ['notes', { notes: 'n' }, '/notes', 'unknown_field'],
]

const INVALID_CHANGES: Row[] = [
  ['an unknown status', { status: 'closed' }, '/status', 'not_allowed'],
  ['null for a status', { status: null }, '/status', 'wrong_type'],
  ['a boolean for a status', { status: true }, '/status', 'wrong_type'],
  ['notes of 65,537 emoji', { notes: fire(65_537) }, '/notes', 'too_long'],
  ['a NUL in notes', { notes: '\0' }, '/notes', 'invalid_text'],
  ['a number for notes', { notes: 5 }, '/notes', 'wrong_type'],
  ['an externalId', { externalId: 'x' }, '/externalId', 'unknown_field'],
  ['a source', { source: 'api' }, '/source', 'unknown_field'],
]

const VALID_ANYWHERE: [what: string, body: Record<string, unknown>][] = [
  ['a title of one letter', { title: 'x' }],
  ['a title of 500 emoji', { title: fire(500) }],
  ['a title of 500 letters in space', { title: ` ${'x'.repeat(500)} ` }],
  ['an empty description', { description: '' }],
  ['no description', { description: null }],
  ['a description of 65,536 emoji', { description: fire(65_536) }],
  ['20 labels of 100 emoji', { labels: Array.from({ length: 20 }, (_, n) => `${fire(98)}${n + 10}`) }],
  ['20 assignees of 100 emoji', { assignees: Array(20).fill(fire(100)) }],
  ['no labels', { labels: [] }],
  ['an address of 2,048', { externalUrl: `https://a.example/${'x'.repeat(2030)}` }],
  ['an address in capitals', { externalUrl: 'HTTP://A.EXAMPLE' }],
  ['an address with everything', { externalUrl: 'https://u:p@[::1]:8080/ä?q=🔥&b#c' }],
  ['no address', { externalUrl: null }],
  ['empty metadata', { metadata: {} }],
  ['metadata of 16 KiB', { metadata: { a: 'x'.repeat(16_376) } }],
  ['metadata of 16 KiB in UTF-8', { metadata: { a: fire(4094) } }],
  ['metadata of ten levels', { metadata: nested(10) }],
  ['metadata with odd names', { metadata: { '': 1, constructor: 2, toString: 3, a: { prototype: 4 } } }],
  ['metadata with odd numbers', { metadata: { a: [1e308, 5e-324, -1.5, 2 ** 53] } }],
]

interface InvalidRequest {
  method: string
  path: string
  body: unknown
}

async function expectError({ method, path, body }: InvalidRequest, expected: { path: string; code: string }) {
  const refused = await service.call(method, path, { body })
  expect(refused.status).toBe(400)
  expect(refused.headers.get('content-type')).toBe('application/problem+json')
  expect(refused.body).toMatchObject({ type: '/problems/validation_failed', code: 'validation_failed' })
  const found = refused.body.errors.map(({ path, code }: FieldError) => `${path} ${code}`)
  expect(new Set(found)).toContain(`${expected.path} ${expected.code}`)
  expect(refused.body.errors.every(({ path }: FieldError) => path === expected.path)).toBe(true)
  expect(refused.body.errors.every(({ message }: FieldError) => message.length < 300)).toBe(true)
}

describe('a new task', () => {
  test.each([...INVALID_ANYWHERE, ...INVALID_NEW_TASKS])(
    'is rejected with %s',
    async (_, body, path, code) => {
      await expectError({ method: 'POST', path: '/api/tasks', body: { title: 'A', ...body } }, { path, code })
    },
  )

  test('without a title gets the name of the missing member', async () => {
    await expectError({ method: 'POST', path: '/api/tasks', body: {} }, { path: '/title', code: 'required' })
  })

  test.each(VALID_ANYWHERE)('is accepted with %s', async (_, body) => {
    const made = await service.post('/api/tasks', { title: 'A', ...body })

    expect(made.status).toBe(201)
    expect((await service.get(`/api/tasks/${made.body.id}`)).body).toEqual(made.body)
  })

  test('is accepted with an externalId of 255 emoji', async () => {
    const made = await service.post('/api/tasks', { title: 'A', externalId: fire(255) })

    expect([made.status, made.body.externalId]).toEqual([201, fire(255)])
  })

  test('returns all its errors at once', async () => {
    const refused = await service.post('/api/tasks', { description: 5, labels: [1, '', 'a'], nope: 1 })

    expect(refused.body.errors.map(({ path }: FieldError) => path).sort()).toEqual([
      '/description',
      '/labels/0',
      '/labels/1',
      '/nope',
      '/title',
    ])
    expect(refused.body).not.toHaveProperty('errorsOmitted')
  })
})

describe('an item of a batch', () => {
  test.each([...INVALID_ANYWHERE, ...INVALID_NEW_TASKS].filter(([, , path]) => path !== '/listId'))(
    'is rejected with %s',
    async (_, body, path, code) => {
      const batch = { listId, tasks: [{ title: 'A' }, { title: 'A', ...body }] }
      await expectError(
        { method: 'POST', path: '/api/tasks/bulk', body: batch },
        { path: `/tasks/1${path}`, code },
      )
    },
  )

  test.each([
    ['no list', { tasks: [{ title: 'A' }] }, '/listId', 'required'],
    ['null for a list', { listId: null, tasks: [{ title: 'A' }] }, '/listId', 'wrong_type'],
    ['no tasks', { listId: '019aa3d2-6f4e-7cc0-a1b2-3c4d5e6f7081' }, '/tasks', 'required'],
    [
      'an object for tasks',
      { listId: '019aa3d2-6f4e-7cc0-a1b2-3c4d5e6f7081', tasks: {} },
      '/tasks',
      'wrong_type',
    ],
  ])('is not validated when the batch has %s', async (_, body, path, code) => {
    for (const mode of ['', '?onError=continue']) {
      await expectError({ method: 'POST', path: `/api/tasks/bulk${mode}`, body }, { path, code })
    }
  })
})

describe('a change', () => {
  test.each([...INVALID_ANYWHERE, ...INVALID_CHANGES])('is rejected with %s', async (_, body, path, code) => {
    await expectError({ method: 'PATCH', path: taskPath, body }, { path, code })
  })

  test.each(VALID_ANYWHERE)('is accepted with %s', async (_, body) => {
    const changed = await service.patch(taskPath, body)

    expect(changed.status).toBe(200)
    expect((await service.get(taskPath)).body).toEqual(changed.body)
  })

  test('is accepted with notes of 65,536 emoji', async () => {
    expect((await service.patch(taskPath, { notes: fire(65_536) })).body.notes).toBe(fire(65_536))
  })
})
