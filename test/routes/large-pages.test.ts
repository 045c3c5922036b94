import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'

let service: TestApp
let projectId: string
beforeAll(async () => {
  service = await startApp()
  const project = await service.given.project()
  projectId = project.id
  const list = { id: project.inbox.id, projectId }
  for (let i = 0; i < 30; i++) {
    await service.given.task(list, {
      title: `Task ${i}`,
      description: i % 5 === 0 ? null : `${i} "ü" `.repeat(10_000),
      notes: i % 7 === 0 ? 'n'.repeat(60_000) : null,
      metadata: { i },
    })
  }
})
afterAll(() => service.close())

describe('a page that is too large for memory', () => {
  test.each(['-createdAt', 'createdAt', '-updatedAt', '-priority'])(
    'equals the smaller pages together, sorted by %s',
    async (sort) => {
      const path = `/api/tasks?projectId=${projectId}&sort=${sort}`
      const whole = await service.get(`${path}&limit=25`)
      expect(whole.headers.get('content-type')).toBe('application/json; charset=utf-8')
      expect(Object.keys(whole.body)).toEqual(['data', 'nextCursor'])
      const single = []
      for (let cursor = ''; single.length < 25; ) {
        const { body } = await service.get(`${path}&limit=1${cursor}`)
        single.push(...body.data)
        cursor = `&cursor=${body.nextCursor}`
      }
      expect(whole.body.data).toEqual(single)
      const after = await service.get(`${path}&limit=25&cursor=${whole.body.nextCursor}`)
      expect([after.body.data.length, after.body.nextCursor]).toEqual([5, null])
    },
  )

  test('has the results of a search, each task the same as a single read', async () => {
    const { body } = await service.get(`/api/tasks?projectId=${projectId}&q=Task&limit=200`)
    expect([body.data.length, body.nextCursor]).toEqual([30, null])
    for (const task of body.data) expect(task).toEqual((await service.get(`/api/tasks/${task.id}`)).body)
  })

  test('of activity continues at the cursor', async () => {
    for (let i = 0; i < 120; i++)
      await service.given.activity({ projectId, type: 'large', message: String(i) })
    const path = `/api/activity?projectId=${projectId}&type=large`
    const whole = await service.get(`${path}&limit=110`)
    expect(whole.body.data.map(({ message }: { message: string }) => Number(message))).toEqual(
      Array.from({ length: 110 }, (_, i) => 119 - i),
    )
    const rest = await service.get(`${path}&limit=110&cursor=${whole.body.nextCursor}`)
    expect([rest.body.data.length, rest.body.nextCursor]).toEqual([10, null])
    const all = await service.get(`${path}&limit=120`)
    expect([all.body.data.length, all.body.nextCursor]).toEqual([120, null])
  })
})
