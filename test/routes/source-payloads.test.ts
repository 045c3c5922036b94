import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'
import { inboxOf, sourceOf, FORM_TEMPLATE as template } from '../support/sources.ts'

let service: TestApp
beforeAll(async () => {
  service = await startApp({ env: { ENCRYPTION_KEY: 'ab'.repeat(32) } })
})
afterAll(() => service.close())

describe('a delivery that is rejected', () => {
  test.each<[string, unknown, object]>([
    ['an array', [{ title: 'A' }], { path: '', code: 'wrong_type' }],
    ['a number', 5, { path: '', code: 'wrong_type' }],
    ['null', 'null', { path: '', code: 'wrong_type' }],
    ['without a title', { text: 'x' }, { path: '/template/title', code: 'required' }],
  ])('because its payload is %s is in the inbox', async (_, payload, error) => {
    const sent = await sourceOf(service)
    const { status, body } = await sent.send(payload)
    expect([status, body.code]).toEqual([400, 'validation_failed'])
    expect(body.errors).toEqual([expect.objectContaining(error)])
    expect(await inboxOf(service, sent)).toMatchObject([
      { outcome: 'rejected', errors: body.errors, dedup_key: null },
    ])
  })

  test.each<[string, Parameters<typeof sourceOf>[1], object]>([
    [
      'loops',
      {
        template: {
          title:
            '{% for a in (1..30000) %}{% for b in (1..30000) %}{% assign c = b %}{% endfor %}{% endfor %}',
        },
      },
      { path: '/template/title', code: 'template_failed' },
    ],
    [
      'grows without end',
      {
        template: {
          title: 'A',
          description:
            '{% assign s = "xxxxxxxxxxxxxxxx" %}{% for i in (1..64) %}{% assign s = s | append: s %}{% endfor %}',
        },
      },
      { path: '/template/description', code: 'template_failed' },
    ],
    [
      'reads what is not in the payload',
      { template: { title: '{{ payload.constructor }}{{ payload.title.__proto__ }}{{ process.env.PATH }}' } },
      { path: '/template/title', code: 'required' },
    ],
    [
      'has a filter that fails',
      { filter: 'payload.list | where_exp: "x", "x.y | nothing"' },
      { path: '/filter', code: 'template_failed' },
    ],
  ])('because its template %s makes no task, and the next is accepted', async (_, given, error) => {
    const sent = await sourceOf(service, given)
    const payload = { title: 'A', list: [{ y: 1 }] }
    const { status, body } = await sent.send(payload)
    expect([status, body.code]).toEqual([400, 'validation_failed'])
    expect(body.errors).toEqual([expect.objectContaining(error)])
    expect(await inboxOf(service, sent)).toMatchObject([
      { outcome: 'rejected', errors: body.errors, tasks: [] },
    ])
    expect(await service.query('select 1 from tasks where source_id = $1', [sent.source.id])).toEqual([])
    await service.patch(`/api/sources/${sent.source.id}`, { filter: null, template: { title: 'B' } })
    expect((await sent.send(payload)).status).toBe(201)
  })

  test('because it is not JSON is in the inbox without its payload', async () => {
    const sent = await sourceOf(service)
    const { status, body } = await sent.send('{"title":')
    expect([status, body.code]).toEqual([400, 'invalid_json'])
    expect(await inboxOf(service, sent)).toMatchObject([
      { outcome: 'rejected', payload: null, errors: [{ code: 'invalid_json' }] },
    ])
  })

  test('because `each` leads to no array names the place', async () => {
    const sent = await sourceOf(service, { each: 'payload.data.alerts' })
    for (const payload of [{}, { data: 5 }, { data: { alerts: { title: 'x' } } }]) {
      const { status, body } = await sent.send(payload)
      expect([status, body.errors[0]]).toMatchObject([400, { path: '/data/alerts', code: 'wrong_type' }])
    }
    const many = await sent.send({ data: { alerts: Array.from({ length: 501 }, () => ({ title: 'x' })) } })
    expect([many.status, many.body.errors[0].code]).toEqual([400, 'too_many'])
  })

  test('may be an array, if `each` says so', async () => {
    const sent = await sourceOf(service, { each: 'payload' })
    expect((await sent.send([{ title: 'A' }, { title: 'B' }])).body.tasks).toHaveLength(2)
  })
})

describe('what cannot be stored', () => {
  test('is cut or left out, and the task is made', async () => {
    const sent = await sourceOf(service, { template })
    const { status, body } = await sent.send({
      title: `${'x'.repeat(600)}`,
      text: `a\0b\ud800${'y'.repeat(70_000)}`,
      priority: 'urgent',
      state: 'closed',
      url: 'javascript:alert(1)',
      id: 'i'.repeat(300),
      labels: Array.from({ length: 30 }, (_, index) => `label ${index}`),
    })
    expect(status).toBe(201)
    const task = (await service.get(`/api/tasks/${body.taskId}`)).body
    expect([task.title.length, task.description.length, task.labels.length]).toEqual([500, 65_536, 20])
    expect(task.description.startsWith('ab\ufffd')).toBe(true)
    expect(task).toMatchObject({ priority: 'medium', status: 'open', externalUrl: null })
    expect(task.externalId).toMatch(/^sha256:[0-9a-f]{64}$/)
    const [event] = await inboxOf(service, sent)
    expect(event.errors.map(({ path }: { path: string }) => path)).toEqual([
      '/template/externalUrl',
      '/template/priority',
      '/template/status',
    ])
  })

  test('is read in the charset that it has', async () => {
    const sent = await sourceOf(service, { verify: { scheme: 'bearer' } })
    const titleOf = async (text: Buffer, type: string) => {
      const { status, body } = await sent.send(text, {
        headers: { 'content-type': type, 'idempotency-key': randomUUID() },
      })
      expect(status).toBe(201)
      return (await service.get(`/api/tasks/${body.taskId}`)).body.title
    }
    const json = '{"title":"Größe"}'
    expect(await titleOf(Buffer.from(json, 'latin1'), 'application/json; charset=iso-8859-1')).toBe('Größe')
    expect(await titleOf(Buffer.from(json, 'utf16le'), 'application/json; charset="utf-16le"')).toBe('Größe')
    expect(await titleOf(Buffer.from(json), 'text/plain; charset=unknown')).toBe('Größe')
    expect(await titleOf(Buffer.from(json, 'latin1'), 'application/json')).toBe('Gr\ufffd\ufffde')
    const form = new URLSearchParams({ payload: '{"title":"From a form"}' }).toString()
    expect(await titleOf(Buffer.from(form), 'application/x-www-form-urlencoded')).toBe('From a form')
  })

  test('has up to 1 MiB, 20,000 values, and 1,000 levels', async () => {
    const sent = await sourceOf(service, { template: { title: '{{ payload.title }}' } })
    const nested = `{"title":"Deep","nested":${'['.repeat(999)}${']'.repeat(999)}}`
    expect((await sent.send(nested)).status).toBe(201)
    expect((await sent.send({ title: 'Long', text: 'x'.repeat(1_000_000) })).status).toBe(201)
    const [, long] = await inboxOf(service, sent)
    expect([long.payload_cut, long.payload.length]).toEqual([true, 262_144])
    expect((await sent.send({ title: 'Too long', text: 'x'.repeat(1_100_000) })).status).toBe(413)
    for (const [code, nested] of [
      ['too_deep', `${'['.repeat(1_000)}${']'.repeat(1_000)}`],
      ['too_many', `[${Array(20_000).fill('{}').join()}]`],
    ]) {
      const { status, body } = await sent.send(`{"title":"Much","nested":${nested}}`)
      expect([status, body.errors]).toEqual([400, [expect.objectContaining({ path: '/nested', code })]])
    }
    expect(await inboxOf(service, sent)).toHaveLength(2)
  })
})
