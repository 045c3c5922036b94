import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { codeOf, startApp, type TestApp } from '../support/app.ts'

let service: TestApp
beforeAll(async () => {
  service = await startApp()
})
afterAll(() => service.close())

const labelsOf = async (query: string, key = service.adminKey) =>
  (await service.get(`/api/labels?${query}`, { key })).body.data

const named = (counts: Record<string, number>) =>
  Object.entries(counts).map(([name, openCount]) => ({ name, openCount, color: null }))

async function givenLabelled(...all: string[][]) {
  const { id, inbox } = await service.given.project()
  const tasks = all.map((labels, n) => ({ title: `Task ${n}`, labels }))
  const made =
    tasks.length > 0 ? await service.post('/api/tasks/bulk', { listId: inbox.id, tasks }) : undefined
  return {
    projectId: id,
    inbox,
    ids: (made?.body.data ?? []).map(({ id }: { id: string }) => id) as string[],
    query: `projectId=${id}`,
  }
}

describe('the labels', () => {
  test('have the number of open tasks, the most used first', async () => {
    const { query } = await givenLabelled(['bug', 'ios'], ['ios'], ['ios', 'ux'], [])

    expect(await labelsOf(query)).toEqual(named({ ios: 3, bug: 1, ux: 1 }))
  })

  test('follow every change, aggregated or not', async () => {
    const { query, ids } = await givenLabelled(['bug', 'ios'], ['ios'], ['ios', 'ux'])
    await service.service.taskCounts.aggregate()

    await service.patch(`/api/tasks/${ids[0]}`, { status: 'done' })
    await service.patch(`/api/tasks/${ids[1]}`, { labels: ['ux', 'new'] })
    await service.delete(`/api/tasks/${ids[2]}`)

    const expected = named({ new: 1, ux: 1, bug: 0, ios: 0 })
    expect(await labelsOf(query)).toEqual(expected)
    await service.service.taskCounts.aggregate()
    expect(await labelsOf(query)).toEqual(expected)

    await service.post(`/api/tasks/${ids[2]}/restore`)
    expect(await labelsOf(query)).toEqual(named({ ux: 2, ios: 1, new: 1, bug: 0 }))
  })

  test('move with their tasks to another project', async () => {
    const here = await givenLabelled(['bug'], ['bug'])
    const there = await givenLabelled()
    await service.patch('/api/tasks/bulk', { ids: here.ids, change: { listId: there.inbox.id } })

    expect(await labelsOf(here.query)).toEqual([])
    expect(await labelsOf(there.query)).toEqual(named({ bug: 2 }))
  })

  test('are one when only their case differs, in the first spelling', async () => {
    const { query } = await givenLabelled(['Needs Review'])
    await service.service.taskCounts.aggregate()
    const { inbox } = await givenLabelled()
    await service.post('/api/tasks', { title: 'A', listId: inbox.id, labels: ['NEEDS REVIEW'] })

    expect(await labelsOf(query)).toEqual(named({ 'Needs Review': 1 }))
    expect(await labelsOf('q=needs%20rev')).toEqual(named({ 'Needs Review': 2 }))
  })

  test.each([
    ['ug', { 'UI bug': 2, bug: 1 }],
    ['UI', { 'UI bug': 2 }],
    ['100%', { '100% sure': 1 }],
    ['_', {}],
  ])('that contain %j are found in any case', async (q, found) => {
    const { query } = await givenLabelled(['UI bug', 'bug'], ['UI bug', '100% sure'])

    expect(await labelsOf(`${query}&q=${encodeURIComponent(q)}`)).toEqual(named(found))
  })

  test('are paged, the most used first', async () => {
    const many = Array.from({ length: 6 }, (_, task) =>
      Array.from({ length: 10 }, (_, n) => (n < 5 ? `often ${n}` : `label ${task * 10 + n}`)),
    )
    const { query } = await givenLabelled(...many)
    const all = await labelsOf(`${query}&limit=200`)
    expect(all).toHaveLength(35)
    expect((await labelsOf(query)).length).toBe(35)
    expect(all.slice(0, 5)).toEqual(named(Object.fromEntries([0, 1, 2, 3, 4].map((n) => [`often ${n}`, 6]))))

    const paged: unknown[] = []
    let cursor = ''
    do {
      const { body } = await service.get(`/api/labels?${query}&limit=4${cursor}`)
      paged.push(...body.data)
      cursor = body.nextCursor ? `&cursor=${body.nextCursor}` : ''
    } while (cursor)
    expect(paged).toEqual(all)
  })

  test('do not take the cursor of another list', async () => {
    const { query } = await givenLabelled(['a', 'b'])
    const { nextCursor } = (await service.get(`/api/labels?${query}&limit=1`)).body
    for (const path of [`/api/assignees?cursor=${nextCursor}`, '/api/labels?cursor=x'])
      expect(codeOf(await service.get(path))).toEqual([400, 'invalid_cursor'])
  })

  test('of other projects are not shown to a bound key; those of archived projects only when requested', async () => {
    const mine = await givenLabelled(['only-here'])
    const other = await givenLabelled(['only-there'])
    const key = await service.given.key({ projectId: mine.projectId })

    expect(await labelsOf('', key)).toEqual(named({ 'only-here': 1 }))
    expect((await service.get(`/api/labels?${other.query}`, { key })).status).toBe(404)
    await service.post(`/api/projects/${other.projectId}/archive`)
    expect(await labelsOf('q=only-')).toEqual(named({ 'only-here': 1 }))
    expect(await labelsOf(other.query)).toEqual(named({ 'only-there': 1 }))
  })

  test('are deleted when no task has them', async () => {
    const { query, ids } = await givenLabelled(['typo'])
    await service.patch(`/api/tasks/${ids[0]}`, { labels: [] })
    expect(await labelsOf(query)).toEqual([])

    await service.service.taskCounts.aggregate()
    await service.service.cleanup.cleanUp()

    expect(await service.query(`select from task_names where name = 'typo'`)).toEqual([])
  })
})

test('assignees are counted in the same way', async () => {
  const { id, inbox } = await service.given.project()
  for (const assignees of [['ada', 'grace'], ['ADA']])
    await service.post('/api/tasks', { title: 'A', listId: inbox.id, assignees, labels: ['bug'] })

  expect((await service.get(`/api/assignees?projectId=${id}`)).body).toEqual({
    data: [
      { name: 'ada', openCount: 2 },
      { name: 'grace', openCount: 1 },
    ],
    nextCursor: null,
  })
})

test('the counts are exact after any change, while they are aggregated twice at once', async () => {
  const { id, inbox } = await service.given.project()
  const label = fc.constantFrom('a', 'b', 'c', 'B')
  const step = fc.oneof(
    fc.record({ labels: fc.array(label, { maxLength: 3 }) }),
    fc.record({
      task: fc.nat(50),
      change: fc.oneof(
        fc.record({ labels: fc.array(label, { maxLength: 3 }) }),
        fc.record({ status: fc.constantFrom('open', 'in_progress', 'done') }),
      ),
    }),
    fc.record({ task: fc.nat(50), verb: fc.constantFrom('delete', 'restore') }),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 30 }), async (steps) => {
      const ids: string[] = []
      for (const step of steps) {
        const path = `/api/tasks/${'task' in step ? ids[step.task % ids.length] : ''}`
        if ('labels' in step) {
          const body = { title: 'A', listId: inbox.id, labels: step.labels }
          ids.push((await service.post('/api/tasks', body)).body.id)
        } else if ('change' in step) await service.patch(path, step.change)
        else if (step.verb === 'delete') await service.delete(path)
        else await service.post(`${path}/restore`)
        void service.service.taskCounts.aggregate()
      }
      const aggregated = [1, 2].map(() => service.service.taskCounts.aggregate())
      const counted = await service.query(
        `select lower(name) as key, count(*) filter (where status <> 'done')::int as open
         from tasks, unnest(labels) as name where project_id = $1 and deleted_at is null group by 1`,
        [id],
      )
      for (const _ of [1, 2]) {
        const labels = await labelsOf(`projectId=${id}`)
        expect(new Map(labels.map((l: { name: string }) => [l.name.toLowerCase(), l]))).toMatchObject(
          new Map(counted.map(({ key, open }) => [key, { openCount: open }])),
        )
        expect(labels).toHaveLength(counted.length)
        await Promise.all(aggregated)
      }
    }),
    { numRuns: 15 },
  )
})

describe('labels and assignees of a task', () => {
  test('are kept once each, in their first spelling', async () => {
    const { inbox } = await service.given.project()
    const doubled = { labels: ['Bug', 'ios', 'bug'], assignees: ['ada', 'Ada'] }
    const distinct = { labels: ['Bug', 'ios'], assignees: ['ada'] }

    const made = (await service.post('/api/tasks', { title: 'A', listId: inbox.id, ...doubled })).body
    expect(made).toMatchObject(distinct)
    const same = await service.patch(`/api/tasks/${made.id}`, doubled)
    expect(same.body).toEqual(made)
    const other = await service.patch(`/api/tasks/${made.id}`, { labels: ['x', 'X', 'y'] })
    expect(other.body.labels).toEqual(['x', 'y'])
  })
})
