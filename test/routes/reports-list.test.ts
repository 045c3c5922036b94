import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'
import { idsOf, reportsOn } from '../support/reports.ts'

let service: TestApp
beforeAll(async () => {
  service = await startApp()
})
afterAll(() => service.close())

const { merge, reportsOf, givenTasks } = reportsOn(() => service)

describe('the reports of a task', () => {
  test('come in pages, newest first', async () => {
    const { ids } = await givenTasks(6)
    const [target, ...others] = ids as [string, ...string[]]
    for (const id of others) await merge(id, target)
    const newestFirst = others.toReversed()
    const first = await reportsOf(target, '?limit=3&fields=summary')
    expect(idsOf(first)).toEqual(newestFirst.slice(0, 3))
    expect(first.data[0]).not.toHaveProperty('description')
    const rest = await reportsOf(target, `?limit=3&cursor=${first.nextCursor}`)
    expect(idsOf(rest)).toEqual(newestFirst.slice(3))
    expect(rest.data[0]).toHaveProperty('description')
    expect(rest.nextCursor).toBe(null)
    const { nextCursor } = (await service.get('/api/tasks?limit=1')).body
    expect((await service.get(`/api/tasks/${target}/reports?cursor=${nextCursor}`)).body.code).toBe(
      'invalid_cursor',
    )
  })

  test('are counted by sentiment and version with the task itself, whatever the page', async () => {
    const project = await service.given.project()
    const feedback = async (sentiment: string, version?: unknown) =>
      (
        await service.given.task(project.inbox, {
          source: 'analytics',
          metadata: { properties: { sentiment, ...(version !== undefined && { app_version: version }) } },
        })
      ).id
    const target = await feedback('frustrated', '2.3.1')
    const [deleted, ...others] = [
      await feedback('loved', '9.9'),
      await feedback('meh', '2.3.0'),
      await feedback('frustrated', '2.3.1'),
      await feedback('frustrated', ''),
      (await service.given.task(project.inbox, { metadata: { properties: 'none' } })).id,
    ]
    for (const id of [deleted, ...others]) await merge(id, target)
    await service.delete(`/api/tasks/${deleted}`)
    await feedback('loved', '1.0')

    const first = await reportsOf(target, '?limit=1&count=true')

    expect([first.data.length, first.counts]).toEqual([
      1,
      {
        sentiments: [
          { name: 'frustrated', count: 3 },
          { name: 'meh', count: 1 },
        ],
        appVersions: [
          { name: '2.3.1', count: 2 },
          { name: '2.3.0', count: 1 },
        ],
        firstOpenedAt: expect.any(String),
        lastOpenedAt: expect.any(String),
      },
    ])
    const second = await reportsOf(target, `?limit=1&count=true&cursor=${first.nextCursor}`)
    expect(second.counts).toEqual(first.counts)
    expect(await reportsOf(target)).not.toHaveProperty('counts')
    const [none] = (await givenTasks(1)).ids
    const { openedAt } = await service.task(none)
    expect(await reportsOf(none, '?count=true')).toEqual({
      data: [],
      nextCursor: null,
      counts: { sentiments: [], appVersions: [], firstOpenedAt: openedAt, lastOpenedAt: openedAt },
    })
  })

  test('sort a list: most reported first, then newest', async () => {
    const { project, ids } = await givenTasks(8)
    const [a, b, c, d, e, f, g, h] = ids as string[] as [
      string,
      string,
      string,
      string,
      string,
      string,
      string,
      string,
    ]
    for (const [id, into] of [
      [a, d],
      [b, d],
      [c, e],
      [f, h],
    ] as const)
      await merge(id, into)
    const order = [d, h, e, g, f, c, b, a]
    for (const place of [`projectId=${project.id}`, `listId=${project.inbox.id}`]) {
      for (const limit of [1, 2, 3, 8]) {
        const found: string[] = []
        for (let cursor: string | null = ''; cursor !== null; ) {
          const { body }: { body: { data: { id: string }[]; nextCursor: string | null } } = await service.get(
            `/api/tasks?${place}&sort=-reports&limit=${limit}${cursor && `&cursor=${cursor}`}`,
          )
          found.push(...idsOf(body))
          cursor = body.nextCursor
        }
        expect(found).toEqual(order)
      }
    }
    const open = await service.get(`/api/tasks?projectId=${project.id}&sort=-reports&status=open`)
    expect(idsOf(open.body)).toEqual([d, h, e, g])
    const found = await service.get(`/api/tasks?projectId=${project.id}&sort=-reports&q=task&limit=3`)
    expect(idsOf(found.body)).toEqual([d, h, e])
    const all = await service.get(`/api/tasks?sort=-reports&limit=1`)
    expect(all.body.data[0].reports).toBeGreaterThan(1)
  })
})
