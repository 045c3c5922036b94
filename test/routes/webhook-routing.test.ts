import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'
import { TIMESTAMP, UNKNOWN_ID, UUID } from '../support/patterns.ts'
import { namesInOrder } from '../support/positions.ts'

let service: TestApp
let target: { id: string; name: string }
beforeAll(async () => {
  service = await startApp()
  target = (await service.post('/api/projects', { name: 'Mobile' })).body
})
beforeEach(() => service.query('delete from webhook_routing'))
afterAll(() => service.close())

const make = (values: object, options = {}) =>
  service.post('/api/webhook-routing', { targetProjectId: target.id, ...values }, options)

const order = async () => namesInOrder((await service.get('/api/webhook-routing?limit=200')).body.data)

describe('a routing rule', () => {
  test('is created last and active, read, listed, changed and deleted', async () => {
    const made = await make({ name: ' iOS ', appMatch: ' com.shop ' })

    expect(made.status).toBe(201)
    expect(made.body).toEqual({
      id: expect.stringMatching(UUID),
      name: 'iOS',
      projectMatch: null,
      appMatch: 'com.shop',
      targetProjectId: target.id,
      position: 0,
      isActive: true,
      createdAt: expect.stringMatching(TIMESTAMP),
      updatedAt: expect.stringMatching(TIMESTAMP),
    })
    const path = `/api/webhook-routing/${made.body.id}`
    expect(made.headers.get('location')).toBe(path)
    expect((await service.get(path)).body).toEqual(made.body)
    const changed = await service.patch(path, {
      isActive: false,
      projectMatch: 'shop',
      appMatch: null,
      name: null,
    })
    expect(changed).toMatchObject({
      status: 200,
      body: { isActive: false, projectMatch: 'shop', appMatch: null, name: null, position: 0 },
    })
    expect((await service.get(path)).body).toEqual(changed.body)
    expect((await service.patch(path, {})).body).toEqual(changed.body)
    expect((await service.delete(path)).status).toBe(204)
    expect((await service.delete(path)).body.code).toBe('routing_rule_not_found')
    expect((await service.get(path)).status).toBe(404)
    expect((await service.patch(path, {})).status).toBe(404)
  })

  test.each<[object, string]>([
    [{}, '/projectMatch'],
    [{ appMatch: null, projectMatch: null }, '/projectMatch'],
    [{ appMatch: '' }, '/appMatch'],
    [{ appMatch: '  ' }, '/appMatch'],
    [{ appMatch: 5 }, '/appMatch'],
    [{ appMatch: 'x'.repeat(256) }, '/appMatch'],
    [{ appMatch: 'a', position: -1 }, '/position'],
    [{ appMatch: 'a', position: '1' }, '/position'],
    [{ appMatch: 'a', isActive: 'yes' }, '/isActive'],
    [{ appMatch: 'a', name: 'x'.repeat(101) }, '/name'],
    [{ appMatch: 'a', targetProjectId: 'Mobile' }, '/targetProjectId'],
    [{ appMatch: 'a', targetProjectId: null }, '/targetProjectId'],
    [{ appMatch: 'a', id: UNKNOWN_ID }, '/id'],
  ])('is rejected as %j', async (values, path) => {
    const refused = await make(values)
    expect(refused).toMatchObject({ status: 400, body: { code: 'validation_failed', errors: [{ path }] } })
  })

  test('keeps its match when other members change', async () => {
    const { id } = (await make({ appMatch: 'a' })).body
    const refused = await service.patch(`/api/webhook-routing/${id}`, { appMatch: null })
    expect(refused).toMatchObject({ status: 400, body: { errors: [{ path: '/projectMatch' }] } })
  })

  test('must target an existing active project', async () => {
    const archived = (await service.post('/api/projects', { name: 'Archived' })).body
    await service.post(`/api/projects/${archived.id}/archive`)
    const { id } = (await make({ appMatch: 'a' })).body
    for (const [targetProjectId, status, code] of [
      [UNKNOWN_ID, 404, 'project_not_found'],
      [archived.id, 409, 'project_archived'],
    ]) {
      expect(await make({ appMatch: 'a', targetProjectId })).toMatchObject({ status, body: { code } })
      const changed = await service.patch(`/api/webhook-routing/${id}`, { targetProjectId })
      expect(changed).toMatchObject({ status, body: { code } })
    }
    expect(await order()).toHaveLength(1)
  })

  test('is created once for one Idempotency-Key', async () => {
    const headers = { 'idempotency-key': randomUUID() }
    const responses = [await make({ appMatch: 'a' }, { headers }), await make({ appMatch: 'a' }, { headers })]
    expect(responses.map(({ status }) => status)).toEqual([201, 201])
    expect(responses[1]?.body).toEqual(responses[0]?.body)
    expect(responses[1]?.headers.get('idempotency-replayed')).toBe('true')
    expect(await order()).toHaveLength(1)
  })
})

describe('the order', () => {
  test('has no gaps, whatever is inserted, moved and deleted', async () => {
    const ids: Record<string, string> = {}
    for (const [name, position] of [['c'], ['a', 0], ['d', 99], ['b', 1]] as const) {
      ids[name] = (await make({ name, appMatch: 'x', ...(position !== undefined && { position }) })).body.id
    }
    expect(await order()).toEqual(['a', 'b', 'c', 'd'])

    expect((await service.patch(`/api/webhook-routing/${ids.d}`, { position: 0 })).body.position).toBe(0)
    expect(await order()).toEqual(['d', 'a', 'b', 'c'])
    expect((await service.patch(`/api/webhook-routing/${ids.a}`, { position: 1_000 })).body.position).toBe(3)
    expect(await order()).toEqual(['d', 'b', 'c', 'a'])
    await service.delete(`/api/webhook-routing/${ids.b}`)
    expect(await order()).toEqual(['d', 'c', 'a'])
  })

  test('has no gaps after concurrent changes, and is read page by page', async () => {
    const made = await Promise.all(
      Array.from({ length: 12 }, (_, n) => make({ name: `r${n}`, appMatch: 'x', position: 0 })),
    )
    expect(made.map(({ status }) => status)).toEqual(Array(12).fill(201))
    await Promise.all(
      made.map(({ body }, n) =>
        n % 3 === 0
          ? service.delete(`/api/webhook-routing/${body.id}`)
          : service.patch(`/api/webhook-routing/${body.id}`, { position: n % 5 }),
      ),
    )
    const all = await order()
    expect(all).toHaveLength(8)

    const pages: string[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page = await service.get(`/api/webhook-routing?limit=3${cursor && `&cursor=${cursor}`}`)
      pages.push(...page.body.data.map(({ name }: { name: string }) => name))
      cursor = page.body.nextCursor
    }
    expect(pages).toEqual(all)
  })
})
