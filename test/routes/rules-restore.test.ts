import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Scope } from '../../src/schemas/caller.ts'
import { startApp, type TestApp } from '../support/app.ts'

let service: TestApp
beforeAll(async () => {
  service = await startApp()
})
afterAll(() => service.close())
beforeEach(() => service.query('delete from rules'))

describe('a deleted rule', () => {
  test('is listed nowhere, and is restored as it was, with its history', async () => {
    const { get, post, patch } = service
    const rule = (await post('/api/rules', { content: 'First.', priority: 2 })).body
    await patch(`/api/rules/${rule.id}`, { content: 'Second.' })
    const [before, history] = [
      await get(`/api/rules/${rule.id}`),
      await get(`/api/rules/${rule.id}/versions`),
    ]
    const etag = (await get('/api/rules')).headers.get('etag')
    expect((await service.delete(`/api/rules/${rule.id}`)).status).toBe(204)
    const refused = await Promise.all([
      get(`/api/rules/${rule.id}`),
      get(`/api/rules/${rule.id}/versions`),
      patch(`/api/rules/${rule.id}`, { priority: 1 }),
      post(`/api/rules/${rule.id}/revert`, { version: 1 }),
      service.delete(`/api/rules/${rule.id}`),
    ])
    expect(refused.map(({ body }) => body.code)).toEqual(Array(5).fill('rule_not_found'))
    expect((await get('/api/rules?includeInactive=true')).body.data).not.toContainEqual(before.body)
    expect((await get('/api/context?format=markdown')).body).not.toContain('Second.')

    const restored = await Promise.all([
      post(`/api/rules/${rule.id}/restore`),
      post(`/api/rules/${rule.id}/restore`),
    ])
    for (const { status, body } of restored) expect([status, body]).toEqual([200, before.body])
    expect((await get(`/api/rules/${rule.id}`)).body).toEqual(before.body)
    expect((await get(`/api/rules/${rule.id}/versions`)).body).toEqual(history.body)
    expect((await get('/api/rules')).headers.get('etag')).toBe(etag)
    const written = (await get('/api/activity?type=rule.restored')).body.data
    expect(written.map(({ metadata }: { metadata: { ruleId: string } }) => metadata.ruleId)).toEqual([
      rule.id,
    ])
  })

  test('is restored as the last of its scope once, however often it is requested', async () => {
    const { body: rule } = await service.post('/api/rules', { content: 'The last.' })
    await service.delete(`/api/rules/${rule.id}`)
    await service.query(
      `insert into rules select gen_random_uuid(), 'A rule', 0, true, null, 1, now(), now(), 'key', null, 'test'
       from generate_series(1, 999)`,
    )
    const restore = () => service.post(`/api/rules/${rule.id}/restore`)
    const responses = await Promise.all(Array.from({ length: 6 }, restore))
    expect(responses.map(({ status }) => status)).toEqual(Array(6).fill(200))
    await service.delete(`/api/rules/${rule.id}`)
    expect((await service.post('/api/rules', { content: 'In its place.' })).status).toBe(201)
    expect((await restore()).body.code).toBe('too_many_rules')
  })

  test('is restored, changed and deleted concurrently without deadlocks', async () => {
    const project = await service.given.project()
    const { body: rule } = await service.post('/api/rules', { content: 'Contended.', projectId: project.id })
    const path = `/api/rules/${rule.id}`
    const all = await Promise.all(
      Array.from({ length: 24 }, (_, index) =>
        [
          () => service.post(`${path}/restore`),
          () => service.patch(path, { priority: index }),
          () => service.delete(path),
        ][index % 3]?.(),
      ),
    )
    expect(all.filter((response) => ![200, 204, 404].includes(response?.status ?? 0))).toEqual([])
  })

  test('can be restored only within the reach of the key, and with the scope', async () => {
    const { post } = service
    const project = await service.given.project()
    const other = await service.given.project()
    const rule = (await post('/api/rules', { content: 'Bound.', projectId: project.id })).body
    const global = (await post('/api/rules', { content: 'Global.' })).body
    for (const { id } of [rule, global]) await service.delete(`/api/rules/${id}`)
    const restore = async (id: string, scopes: Scope[], projectId: string) => {
      const key = await service.given.key({ scopes, projectId })
      return (await post(`/api/rules/${id}/restore`, undefined, { key })).body.code
    }
    expect(await restore(rule.id, ['rules:write'], other.id)).toBe('rule_not_found')
    expect(await restore(rule.id, ['rules:read'], project.id)).toBe('insufficient_scope')
    expect(await restore(global.id, ['rules:write'], project.id)).toBe('insufficient_scope')
    await post(`/api/projects/${project.id}/archive`)
    expect((await post(`/api/rules/${rule.id}/restore`)).body.code).toBe('project_archived')
    await post(`/api/projects/${project.id}/unarchive`)
    expect((await post(`/api/rules/${rule.id}/restore`)).status).toBe(200)
  })

  test('does not block the deletion of its project, and is deleted permanently after 30 days', async () => {
    const { post } = service
    const project = (await post('/api/projects', { name: 'Left empty' })).body
    const { body: rule } = await post('/api/rules', { content: 'Hidden.', projectId: project.id })
    await service.delete(`/api/rules/${rule.id}`)
    const hide = (days: number) =>
      service.query(`update rules set deleted_at = now() - $2 * interval '1 day' where id = $1`, [
        rule.id,
        days,
      ])
    await hide(29.9)
    await service.service.cleanup.cleanUp()
    expect((await post(`/api/rules/${rule.id}/restore`)).status).toBe(200)
    await service.delete(`/api/rules/${rule.id}`)
    await hide(30.1)
    expect((await post(`/api/rules/${rule.id}/restore`)).body.code).toBe('rule_not_found')
    await service.service.cleanup.cleanUp()
    expect(await service.query('select from rule_versions where rule_id = $1', [rule.id])).toEqual([])

    const { body: last } = await post('/api/rules', { content: 'In the way?', projectId: project.id })
    await service.delete(`/api/rules/${last.id}`)
    expect((await service.delete(`/api/projects/${project.id}`)).status).toBe(204)
    expect((await post(`/api/rules/${last.id}/restore`)).body.code).toBe('rule_not_found')
  })
})

describe('the thousandth rule of a scope', () => {
  test.each(['global', 'project'])('is the last, also in concurrent requests: %s', async (scope) => {
    const projectId = scope === 'global' ? null : (await service.given.project()).id
    await service.query(
      `insert into rules select gen_random_uuid(), 'A rule', 0, n % 2 = 0, $1, 1, now(), now(), 'key', null, 'test'
       from generate_series(1, 995) n`,
      [projectId],
    )

    const responses = await Promise.all(
      Array.from({ length: 12 }, () => service.post('/api/rules', { content: 'One more', projectId })),
    )

    expect(responses.map(({ status }) => status).sort()).toEqual([
      ...Array(5).fill(201),
      ...Array(7).fill(409),
    ])
    expect(responses.find(({ status }) => status === 409)?.body.code).toBe('too_many_rules')
    const other = scope === 'global' ? (await service.given.project()).id : null
    expect((await service.post('/api/rules', { content: 'Elsewhere', projectId: other })).status).toBe(201)
  })
})
