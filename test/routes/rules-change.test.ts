import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'

let service: TestApp
beforeAll(async () => {
  service = await startApp()
})
afterAll(() => service.close())
beforeEach(() => service.query('delete from rules'))

const create = async (body: object, key?: string) =>
  (await service.post('/api/rules', body, key ? { key } : {})).body

describe('a change of a rule', () => {
  test('is a new version; a change of nothing is not', async () => {
    const rule = await create({ content: 'A', priority: 1 })

    const changed = await service.patch(`/api/rules/${rule.id}`, { content: 'B', isActive: false })
    const same = await service.patch(`/api/rules/${rule.id}`, {
      content: ' B ',
      priority: 1,
      isActive: false,
    })

    expect(changed.headers.get('etag')).toBe('"2"')
    expect(changed.body).toMatchObject({ content: 'B', isActive: false, priority: 1, version: 2 })
    expect(same.body).toEqual(changed.body)
    expect((await service.patch(`/api/rules/${rule.id}`, {})).body.version).toBe(2)
  })

  test('is rejected when the rule has another version', async () => {
    const rule = await create({ content: 'A' })
    await service.patch(`/api/rules/${rule.id}`, { content: 'B' })

    const stale = { headers: { 'if-match': '"1"' } }
    for (const response of [
      await service.patch(`/api/rules/${rule.id}`, { content: 'C' }, stale),
      await service.delete(`/api/rules/${rule.id}`, stale),
      await service.post(`/api/rules/${rule.id}/revert`, { version: 1 }, stale),
    ]) {
      expect(response).toMatchObject({ status: 412, body: { code: 'version_mismatch' } })
      expect(response.body.detail).toContain('The rule has changed')
    }
    expect(
      (await service.patch(`/api/rules/${rule.id}`, { content: 'C' }, { headers: { 'if-match': '"2"' } }))
        .status,
    ).toBe(200)
  })

  test('can be reverted, which is a new version as well', async () => {
    const rule = await create({ content: 'A', priority: 1 })
    await service.patch(`/api/rules/${rule.id}`, { content: 'B', priority: 2 })
    await service.patch(`/api/rules/${rule.id}`, { isActive: false })

    const reverted = await service.post(`/api/rules/${rule.id}/revert`, { version: 1 })

    expect(reverted).toMatchObject({
      status: 200,
      body: { content: 'A', priority: 1, isActive: true, version: 4 },
    })
    expect(await service.post(`/api/rules/${rule.id}/revert`, { version: 99 })).toMatchObject({
      status: 404,
      body: { code: 'rule_version_not_found' },
    })
    const versions = await service.get(`/api/rules/${rule.id}/versions`)
    expect(versions.body.data).toMatchObject([
      { version: 4, content: 'A', priority: 1, isActive: true, createdBy: { type: 'key' } },
      { version: 3, content: 'B', priority: 2, isActive: false },
      { version: 2, content: 'B', priority: 2, isActive: true },
      { version: 1, content: 'A', priority: 1, isActive: true },
    ])
  })

  test('is in a history that is read page by page', async () => {
    const rule = await create({ content: '1' })
    for (const content of ['2', '3', '4', '5']) await service.patch(`/api/rules/${rule.id}`, { content })

    const seen: number[] = []
    for (let cursor = ''; ; ) {
      const page = (await service.get(`/api/rules/${rule.id}/versions?limit=2${cursor}`)).body
      seen.push(...page.data.map(({ version }: { version: number }) => version))
      if (page.nextCursor === null) break
      cursor = `&cursor=${page.nextCursor}`
    }

    expect(seen).toEqual([5, 4, 3, 2, 1])
    expect(await service.get(`/api/rules/${rule.id}/versions?cursor=x`)).toMatchObject({
      status: 400,
      body: { code: 'invalid_cursor' },
    })
  })

  test('is recorded, its content without the text', async () => {
    const rule = await create({ content: 'secret one' })
    await service.patch(`/api/rules/${rule.id}`, { content: 'secret two', priority: 3, isActive: false })
    await service.delete(`/api/rules/${rule.id}`)

    const activities = await service.query(
      `select type, metadata, actor_type from activity where metadata->>'ruleId' = $1 order by id`,
      [rule.id],
    )
    expect(activities).toEqual([
      { type: 'rule.created', metadata: { ruleId: rule.id }, actor_type: 'key' },
      {
        type: 'rule.updated',
        metadata: { ruleId: rule.id, changes: { content: 'changed', priority: { from: 0, to: 3 } } },
        actor_type: 'key',
      },
      { type: 'rule.disabled', metadata: { ruleId: rule.id }, actor_type: 'key' },
      { type: 'rule.deleted', metadata: { ruleId: rule.id }, actor_type: 'key' },
    ])
    expect(await service.delete(`/api/rules/${rule.id}`)).toMatchObject({ status: 404 })
  })

  test('that races with others loses none of them', async () => {
    const rule = await create({ content: 'A' })

    const responses = await Promise.all(
      Array.from({ length: 20 }, (_, n) => service.patch(`/api/rules/${rule.id}`, { content: `${n}` })),
    )

    expect(responses.map(({ body }) => body.version).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 20 }, (_, n) => n + 2),
    )
  })
})
