import { connect } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { FieldError } from '../../src/errors/index.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { sendBody } from '../support/raw.ts'

const JSON_TYPE = 'application/json'

let service: TestApp
let taskPath: string
beforeAll(async () => {
  service = await startApp()
  taskPath = `/api/tasks/${(await service.post('/api/tasks', { title: 'A task' })).body.id}`
})
afterAll(() => service.close())

const WITH_BODY = [
  ['POST', '/api/tasks'],
  ['POST', '/api/tasks/bulk'],
  ['POST', '/api/tasks/bulk?onError=continue'],
] as const

describe('a body that is not JSON', () => {
  test.each([
    ['cut off', '{"title":"A"'],
    ['two values', '{"title":"A"}{}'],
    ['a word', 'title'],
    ['a form', 'title=A&priority=high'],
    ['single quotes', "{'title':'A'}"],
    ['a trailing comma', '{"title":"A",}'],
    ['a comment', '{"title":"A"/* */}'],
    ['NaN', '{"title":NaN}'],
    ['a bare control character', '{"title":"A\u0000"}'],
    ['space alone', '  \n'],
    ['invalid UTF-8', Buffer.from([...Buffer.from('{"title":"'), 0xff, 0xfe, ...Buffer.from('"}')])],
    ['half of a UTF-8 letter', Buffer.from('{"title":"🔥"}').subarray(0, 12)],
    [
      'a surrogate in UTF-8',
      Buffer.from([...Buffer.from('{"title":"'), 0xed, 0xa0, 0x80, ...Buffer.from('"}')]),
    ],
    ['an overlong NUL', Buffer.from([...Buffer.from('{"title":"'), 0xc0, 0x80, ...Buffer.from('"}')])],
    ['UTF-16', Buffer.from('{"title":"A"}', 'utf16le')],
    ['gzip', Buffer.from([0x1f, 0x8b, 0x08, 0x00])],
    ['a __proto__', '{"title":"A","__proto__":{"priority":"high"}}'],
    ['a __proto__ in letters', '{"title":"A","\\u005f_proto__":{"priority":"high"}}'],
    ['a __proto__ deep inside', '{"title":"A","metadata":{"a":[{"__proto__":1}]}}'],
    ['a prototype of a constructor', '{"title":"A","constructor":{"prototype":{"x":1}}}'],
    ['a prototype of a constructor inside', '{"title":"A","metadata":{"constructor":{"prototype":1}}}'],
  ])('is rejected on every route that takes one: %s', async (_, body) => {
    for (const [method, path] of [...WITH_BODY, ['PATCH', taskPath], ['DELETE', taskPath]] as const) {
      const refused = await sendBody(service, { method, path, type: JSON_TYPE, body })
      expect([path, refused.status, refused.body.code]).toEqual([path, 400, 'invalid_json'])
    }
    expect((await service.get(taskPath)).body.version).toBe(1)
  })

  test('may contain the word constructor as a value', async () => {
    const body = '{"title":"__proto__","metadata":{"constructor":"x","prototype":{"a":1}}}'

    expect(
      await sendBody(service, { method: 'POST', path: '/api/tasks', type: JSON_TYPE, body }),
    ).toMatchObject({
      status: 201,
      body: { title: '__proto__', metadata: { constructor: 'x', prototype: { a: 1 } } },
    })
  })
})

describe('a body of the wrong JSON type', () => {
  test.each(['null', 'true', '5', '"title"', '[]', '[{"title":"A"}]'])(
    'is rejected as a whole: %s',
    async (body) => {
      for (const [method, path] of [...WITH_BODY, ['PATCH', taskPath]] as const) {
        const refused = await sendBody(service, { method, path, type: JSON_TYPE, body })
        expect([path, refused.status, refused.body.code]).toEqual([path, 400, 'validation_failed'])
        expect(refused.body.errors).toMatchObject([{ path: '', code: 'wrong_type' }])
      }
    },
  )

  test.each([
    ['a number beyond any', '{"title":"A","metadata":{"a":1e400}}', '/metadata'],
    ['minus that', '{"title":"A","metadata":{"a":[-1e400]}}', '/metadata'],
    ['such a number for a title', '{"title":1e400}', '/title'],
    [
      'a hundred thousand lists',
      `{"title":"A","metadata":{"a":${'['.repeat(1e5)}${']'.repeat(1e5)}}}`,
      '/metadata',
    ],
    [
      'a hundred thousand objects',
      `{"title":"A","metadata":${'{"a":'.repeat(1e5)}1${'}'.repeat(1e5)}}`,
      '/metadata',
    ],
    ['that for a title', `{"title":${'['.repeat(1e5)}${']'.repeat(1e5)}}`, '/title'],
    ['that under an unknown name', `{"title":"A","nope":${'['.repeat(1e5)}${']'.repeat(1e5)}}`, '/nope'],
  ])('is rejected with the path of each error: %s', async (_, body, path) => {
    const refused = await sendBody(service, { method: 'POST', path: '/api/tasks', type: JSON_TYPE, body })

    expect([refused.status, refused.body.code]).toEqual([400, 'validation_failed'])
    expect(refused.body.errors.map(({ path }: FieldError) => path)).toEqual([path])
  })

  test('and nested very deeply is rejected before it is parsed, also with a __proto__ at the bottom', async () => {
    const deep = (bottom: string) => `${'{"a":'.repeat(1e5)}${bottom}${'}'.repeat(1e5)}`

    const whole = await sendBody(service, {
      method: 'PATCH',
      path: taskPath,
      type: JSON_TYPE,
      body: deep('1'),
    })
    const poisoned = await sendBody(service, {
      method: 'PATCH',
      path: taskPath,
      type: JSON_TYPE,
      body: deep('{"__proto__":1}'),
    })

    for (const { status, body } of [whole, poisoned]) {
      expect(status).toBe(400)
      expect(body.errors).toEqual([
        { path: '/a', code: 'too_deep', message: 'must be at most 1,000 levels deep' },
      ])
    }
  })
})

describe('an empty body', () => {
  test.each([undefined, JSON_TYPE, 'text/plain', 'multipart/form-data', '', 'nonsense', 'a/b/c', '/', ';'])(
    'is {} whatever its type: %s',
    async (type) => {
      for (const content of [{}, { body: '' }, { chunks: [] }]) {
        const created = await sendBody(service, { method: 'POST', path: '/api/tasks', type, ...content })
        const changed = await sendBody(service, { method: 'PATCH', path: taskPath, type, ...content })
        const restored = await sendBody(service, {
          method: 'POST',
          path: `${taskPath}/restore`,
          type,
          ...content,
        })

        expect(created.body.errors).toMatchObject([{ path: '/title', code: 'required' }])
        expect([changed.status, restored.status]).toEqual([200, 200])
      }
      const { body } = await service.post('/api/tasks', { title: 'A task' })
      expect(
        (await sendBody(service, { method: 'DELETE', path: `/api/tasks/${body.id}`, type, body: '' })).status,
      ).toBe(204)
    },
  )
})

describe('a body where none is expected', () => {
  test.each([
    ['{"nope":1}', '/nope', 'unknown_field'],
    ['{"title":"A"}', '/title', 'unknown_field'],
    ['[]', '', 'wrong_type'],
    ['null', '', 'wrong_type'],
  ])('is rejected like any other unknown member: %s', async (body, path, code) => {
    for (const [method, address] of [
      ['DELETE', taskPath],
      ['POST', `${taskPath}/restore`],
    ] as const) {
      const refused = await sendBody(service, { method, path: address, type: JSON_TYPE, body })
      expect([method, refused.status]).toEqual([method, 400])
      expect(refused.body.errors).toMatchObject([{ path, code }])
    }
    expect((await service.get(taskPath)).status).toBe(200)
  })
})

describe('a body whose sender disconnects', () => {
  test('is not our error: nothing is logged as an error', async () => {
    const lines: { level: number }[] = []
    const logger = pino({ level: 'info' }, { write: (line) => lines.push(JSON.parse(line)) })
    const service = await startApp({ logger })
    const { hostname, port } = new URL(service.url)

    const socket = connect(Number(port), hostname)
    socket.write(
      `POST /api/tasks HTTP/1.1\r\nHost: inlet\r\nX-API-Key: ${service.adminKey}\r\n` +
        'Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"title":"A"}',
    )
    await setTimeout(200)
    socket.destroy()
    await setTimeout(200)

    expect(lines.filter(({ level }) => level > 30)).toEqual([])
    await service.close()
  })
})

describe('the type of a body', () => {
  test.each([
    'application/json; charset=utf-8',
    'APPLICATION/JSON',
    'application/json;charset="UTF-8"',
    'application/json;',
  ])('may be written in several ways: %s', async (type) => {
    expect(
      (await sendBody(service, { method: 'POST', path: '/api/tasks', type, body: '{"title":"A"}' })).status,
    ).toBe(201)
  })

  test.each([
    undefined,
    '',
    'text/plain',
    'text/json',
    'application/jsonx',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/merge-patch+json',
    'application/problem+json',
    'application',
    'nonsense',
    'a/b/c',
    '/json',
    'application/json, text/plain',
    `text/${'x'.repeat(2000)}`,
  ])('is rejected on every route when it is not JSON: %s', async (type) => {
    for (const [method, path] of [
      ...WITH_BODY,
      ['PATCH', taskPath],
      ['DELETE', taskPath],
      ['POST', `${taskPath}/restore`],
    ] as const) {
      const refused = await sendBody(service, { method, path, type, body: '{"title":"A"}' })
      expect([path, refused.status, refused.body.code]).toEqual([path, 415, 'unsupported_media_type'])
      expect(refused.body.detail.length).toBeLessThan(250)
    }
  })
})

describe('of a request that is invalid in several parts', () => {
  test('the path is reported first, then the body, then the query', async () => {
    const paths = async (path: string, body: unknown) =>
      (await service.patch(path, body)).body.errors.map(({ path }: FieldError) => path)

    expect(await paths('/api/tasks/x?nope=1', { nope: 1 })).toEqual(['path.id'])
    expect(await paths(`${taskPath}?nope=1`, { nope: 1 })).toEqual(['/nope'])
    expect(await paths(`${taskPath}?nope=1`, {})).toEqual(['query.nope'])
  })
})
