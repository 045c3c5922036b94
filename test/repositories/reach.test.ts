import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { everywhere, type Reach } from '../../src/repositories/index.ts'
import type { TaskFilter } from '../../src/repositories/task-filters.ts'
import type { TaskPageRequest } from '../../src/repositories/task-pages.ts'
import { itemsOf } from '../../src/services/page.ts'
import { startApp, type TestApp } from '../support/app.ts'

/* A reach of several projects shows what a reach of all shows, but for the other projects. */

const SORTS = ['created', 'opened', 'updated', 'priority', 'reports'] as const
const WORDS = ['export', 'invoice', 'quokka']

let service: TestApp
let reach: Reach
let outside: string
let archived: string
beforeAll(async () => {
  service = await startApp({ walk: 8, examined: 18 })
  const [first, second, third, other] = [
    await service.given.project(),
    await service.given.project(),
    await service.given.project(),
    await service.given.project(),
  ]
  for (const [place, project] of [first, second, third, other].entries()) {
    for (let n = 0; n < 12; n++) {
      const time = new Date(Date.UTC(2026, 0, 1 + ((n * 7 + place * 3) % 12)))
      await service.given.task(project.inbox, {
        title: `${WORDS[(n + place) % 4 === 0 ? 0 : 1]} ${n}`,
        priority: 1 + ((n + place) % 3),
        ...(n % 4 === 0 && { status: 'done' as const, completedAt: time }),
        labels: [`label ${n % 3}`],
        reportCount: n % 5 === 0 ? n : 0,
        openedAt: time,
        updatedAt: time,
        deletedAt: n === 11 ? new Date() : null,
      })
    }
    const activity = { type: place % 2 === 0 ? 'deploy.finished' : 'deploy.failed' }
    for (let n = 0; n < 5; n++)
      expect((await service.post('/api/activity', { ...activity, projectId: project.id })).status).toBe(201)
  }
  await service.post(`/api/projects/${third.id}/archive`)
  reach = { projectIds: [first.id, second.id, third.id] }
  archived = third.id
  outside = other.id
})
afterAll(() => service.close())

type Page = Omit<TaskPageRequest, 'after' | 'limit'>

interface Listed {
  id: string
  projectId: string
}

/** All tasks of a filter, in pages of three. */
async function listAll(reach: Reach, filter: TaskFilter, page: Page) {
  const { tasks } = service.repos.within(reach)
  const listed: Listed[] = []
  for (let after: TaskPageRequest['after'], count = 0; count === 0 || after; count++) {
    expect(count).toBeLessThan(100)
    const { items, last } = await tasks.list(filter, { ...page, after, limit: 4 })
    listed.push(...itemsOf<Listed>({ items }))
    after = last ?? undefined
  }
  return listed
}

/** Those of other projects are what the reach must hide. */
const reached = <Row extends { projectId: string | null }>(rows: Row[], { withArchived = true } = {}) =>
  rows.filter(
    ({ projectId }) =>
      projectId !== null &&
      reach.projectIds?.includes(projectId) === true &&
      (withArchived || projectId !== archived),
  )

describe('a reach of several projects', () => {
  const FILTERS: Record<string, TaskFilter> = {
    'all tasks': {},
    'all tasks of active projects': { skipsArchived: true },
    'what is open': { statuses: ['open'], skipsArchived: true },
    'a label': { labels: { names: ['Label 1'], orNone: false } },
    'a frequent word': { words: ['invoice'] },
    'a rarer word': { words: ['export'], skipsArchived: true },
    'a word of no task': { words: ['quokka'] },
    'a word and a status': { words: ['invoice'], statuses: ['done'] },
    'what is ready': { isReady: true },
    'the trash': { deletedSince: new Date(0) },
  }
  test.each([
    ...Object.keys(FILTERS).flatMap((name) => SORTS.map((sortBy) => [name, sortBy] as const)),
    ['the trash', 'deleted'] as const,
  ])('has pages of %s, sorted by %s', async (name, sortBy) => {
    const filter = FILTERS[name] ?? {}
    for (const direction of ['ascending', 'descending'] as const) {
      const page = { sortBy, direction, isSummary: true }

      const listed = await listAll(reach, filter, page)

      const all = await listAll(everywhere, filter, page)
      expect(listed).toEqual(reached(all))
      expect(listed.length > 0).toBe(name !== 'a word of no task')
    }
  })

  test.each(Object.keys(FILTERS))('counts %s', async (name) => {
    const filter = FILTERS[name] ?? {}
    const all = await listAll(reach, filter, { sortBy: 'created', direction: 'ascending', isSummary: true })

    const { count, isExact } = await service.repos.within(reach).tasks.count(filter, 1_000)

    expect(isExact || filter.words !== undefined).toBe(true)
    expect(count).toBe(isExact ? all.length : Math.min(count, all.length))
  })

  test('has one of its projects as a place, and no other', async () => {
    const page = { sortBy: 'created', direction: 'descending', isSummary: true } as const
    const [first = ''] = reach.projectIds ?? []
    expect(await listAll(reach, { projectId: first }, page)).toHaveLength(11)
    expect(await listAll(reach, { projectId: outside }, page)).toEqual([])
    const [list] = await service.query('select id from lists where project_id = $1', [outside])
    expect(await listAll(reach, { listId: list.id }, page)).toEqual([])
  })

  test.each([
    {},
    { types: ['deploy.finished'] },
    { types: ['deploy.failed', 'deploy.finished'] },
    { types: ['no.such'] },
  ])('has the activity of its projects: %j', async (filter) => {
    const list = async (reach: Reach) => {
      const { activity } = service.repos.within(reach)
      const rows: { id: string; projectId: string | null }[] = []
      for (let before: string | undefined; ; before = rows.at(-1)?.id) {
        const page = await activity.list(filter, { before, limit: 3 })
        rows.push(...page)
        if (page.length < 3) return rows
      }
    }
    expect(await list(reach)).toEqual(reached(await list(everywhere)))
  })

  test('has the labels of its active projects', async () => {
    const [first = '', second = ''] = reach.projectIds ?? []
    const countOf = async (reach: Reach) => {
      const used = await service.repos.within(reach).taskNames.list({ kind: 'label' }, 10)
      return new Map(used.map(({ name, openCount }) => [name, openCount]))
    }
    const [all, ofFirst, ofSecond] = [
      await countOf(reach),
      await countOf({ projectIds: [first] }),
      await countOf({ projectIds: [second] }),
    ]
    expect([...all.keys()].toSorted()).toEqual(['label 0', 'label 1', 'label 2'])
    for (const [name, count] of all) expect(count).toBe((ofFirst.get(name) ?? 0) + (ofSecond.get(name) ?? 0))
  })

  test('has the lists and the counts of its active projects as context', async () => {
    const { context } = service.repos.within(reach)
    const destinations = await context.listDestinations(null, 100)
    expect(destinations.map(({ projectId }) => projectId)).toEqual(reach.projectIds?.slice(0, 2))
    const { open } = await context.countTasks(null)
    const { open: withArchived } = await context.countTasks(null, { includeArchived: true })
    expect([open, withArchived]).toEqual([16, 24])
  })

  test('has no default list, and finds a list of its own', async () => {
    const { lists } = service.repos.within(reach)
    expect(await lists.findDestination(undefined)).toBeUndefined()
    const [own] = await service.query('select id from lists where project_id = $1', [reach.projectIds?.[1]])
    const [foreign] = await service.query('select id from lists where project_id = $1', [outside])
    expect(await lists.findDestination(own.id)).toMatchObject({ listId: own.id })
    expect(await lists.findDestination(foreign.id)).toBeUndefined()
    expect(await lists.listDestinations([own.id, foreign.id])).toEqual([
      expect.objectContaining({ listId: own.id }),
    ])
  })

  test('is where activity is posted', async () => {
    const post = async (values: { projectId?: string; taskId?: string }) => {
      const id = service.clock.newId(new Date())
      const row = { ...POSTED, id, taskId: null, projectId: null, createdAt: new Date(), ...values }
      const { postedActivities } = service.repos.within(everywhere)
      return (await postedActivities.insert([{ row, reach }])).get(id)
    }
    const taskOf = async (projectId: string) => {
      const [task] = await service.query('select id from tasks where project_id = $1 limit 1', [projectId])
      return task.id
    }
    const [first = '', second = ''] = reach.projectIds ?? []
    expect(await post({ projectId: second })).toBe(second)
    expect(await post({ taskId: await taskOf(first) })).toBe(first)
    expect(await post({ projectId: outside })).toBeUndefined()
    expect(await post({ taskId: await taskOf(outside) })).toBeUndefined()
  })

  test('is where tasks are claimed: by priority, then age, each once', async () => {
    const { claims, tasks } = service.repos.within(reach)
    const { projectIds } = reach
    const next = async (filter: object) => {
      const now = new Date()
      const claim = { activityId: service.clock.newId(now), actor: WORKER, leaseSeconds: 60, now }
      const everything = service.repos.within(everywhere)
      const claimed = await everything.claims.claimNext([claim], { filter, skipsExpired: false })
      return claimed.tasks.flatMap((task) => (task ? JSON.parse(task).id : []))
    }
    const ready = await listAll(
      reach,
      { isReady: true, skipsArchived: true },
      { sortBy: 'priority', direction: 'descending', isSummary: true },
    )
    const byPriority = Map.groupBy(ready, (task) => (task as unknown as { priority: string }).priority)
    const expected = [...byPriority.values()].flatMap((tasks) => tasks.toReversed().map(({ id }) => id))

    const claimed: string[] = []
    for (;;) {
      const some = await next({ projectIds })
      if (some.length === 0) break
      claimed.push(...some)
    }

    expect(claimed).toEqual(expected)
    expect(await next({ projectIds, label: 'label 1' })).toEqual([])
    const [foreign] = await service.query(
      `select id from tasks where project_id = $1 and status = 'open' and deleted_at is null limit 1`,
      [outside],
    )
    const claim = {
      activityId: service.clock.newId(new Date()),
      actor: WORKER,
      leaseSeconds: 60,
      now: new Date(),
    }
    expect(await claims.claim(foreign.id, claim)).toBeUndefined()
    expect(await tasks.findJson(foreign.id)).toBeUndefined()
  })
})

const WORKER = { type: 'key', id: null, name: 'worker' } as const
const POSTED = {
  type: 'deploy.finished',
  message: null,
  actorType: 'key',
  actorId: null,
  actorName: 'ci',
  metadata: {},
} as const
