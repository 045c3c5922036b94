import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TestApp } from '../support/app.ts'
import { times } from '../support/concurrent.ts'
import { startTwoInstances, type TwoInstances } from '../support/two-instances.ts'

/* Single creates and changes that come at the same time share statements. Each caller must notice nothing of it. */

let instances: TwoInstances
let service: TestApp
let second: TestApp
beforeAll(async () => {
  instances = await startTwoInstances()
  ;({ service, second } = instances)
})
afterAll(() => instances.close())

const activityOf = (taskIds: string[]) =>
  service.query('select task_id, type, actor_name from activity where task_id = any($1) order by id', [
    taskIds,
  ])

describe('concurrent creates', () => {
  test('each return their own task, in its own list, with its own actor', async () => {
    const places = await times(4, () => service.given.project())
    const keys = await times(4, (n) =>
      service.given.key({ name: `Key ${n}`, ...(n % 2 && { projectId: places[n]?.id }) }),
    )
    const created = await times(80, (n) => {
      const { inbox } = places[n % 4] ?? {}
      return service.post(
        '/api/tasks',
        {
          title: `Task ${n} "quoted" \\ {a,b} 😀`,
          description: n % 3 ? null : `Text ${n}\n`,
          labels: n % 2 ? [`l"${n}`, 'a\\b', '{x}', 'null', ''.padEnd(100, 'ü')] : [],
          assignees: [`somebody, ${n}`],
          metadata: { n, nested: [{ 'a"b': null }] },
          priority: (['low', 'medium', 'high'] as const)[n % 3],
          externalUrl: `https://example.org/${n}`,
          ...(inbox && { listId: inbox.id }),
        },
        { key: keys[n % 4] ?? null },
      )
    })

    expect(created.map(({ status }) => status)).toEqual(Array(80).fill(201))
    for (const [n, { body }] of created.entries()) {
      const { body: read } = await service.get(`/api/tasks/${body.id}`)
      expect(read).toEqual(body)
      expect(read).toMatchObject({
        title: `Task ${n} "quoted" \\ {a,b} 😀`,
        description: n % 3 ? null : `Text ${n}\n`,
        labels: n % 2 ? [`l"${n}`, 'a\\b', '{x}', 'null', ''.padEnd(100, 'ü')] : [],
        assignees: [`somebody, ${n}`],
        metadata: { n, nested: [{ 'a"b': null }] },
        listId: places[n % 4]?.inbox.id,
        createdBy: { type: 'key', name: `Key ${n % 4}` },
        version: 1,
      })
    }
    const logged = await activityOf(created.map(({ body }) => body.id))
    expect(logged.map(({ task_id, type, actor_name }) => `${task_id} ${type} ${actor_name}`).sort()).toEqual(
      created.map(({ body }, n) => `${body.id} task.created Key ${n % 4}`).sort(),
    )
  })

  test('fail each for itself, and none for another', async () => {
    const open = await service.given.project()
    const archived = await service.given.project({ archivedAt: new Date() })
    const missing = '01890000-0000-7000-8000-000000000000'
    const bodies = [
      { listId: open.inbox.id },
      { listId: archived.inbox.id },
      { listId: missing },
      { listId: open.inbox.id, externalId: 'same' },
    ]
    const responses = await times(80, (n) => service.post('/api/tasks', { title: `T${n}`, ...bodies[n % 4] }))
    const outcomes = (kind: number) =>
      responses.flatMap(({ status, body }, n) => (n % 4 === kind ? [body.code ?? status] : []))
    expect(outcomes(0)).toEqual(Array(20).fill(201))
    expect(outcomes(1)).toEqual(Array(20).fill('project_archived'))
    expect(outcomes(2)).toEqual(Array(20).fill('list_not_found'))
    expect(outcomes(3).toSorted()).toEqual([...Array(19).fill(200), 201])
  })

  test('notice that a list they used a moment ago was deleted, or its project archived', async () => {
    const { id, inbox } = await service.given.project()
    const list = await service.given.list(id)
    const create = (listId: string) => service.post('/api/tasks', { title: 'A task', listId })
    expect([(await create(inbox.id)).status, (await create(list.id)).status]).toEqual([201, 201])

    // Another instance deletes and archives: this one has seen both lists accept tasks.
    const options = { key: service.adminKey }
    await second.delete(`/api/lists/${list.id}?moveTo=${inbox.id}`, options)
    expect((await create(list.id)).body.code).toBe('list_not_found')
    await second.post(`/api/projects/${id}/archive`, {}, options)
    expect((await create(inbox.id)).body.code).toBe('project_archived')
    await second.post(`/api/projects/${id}/unarchive`, {}, options)
    expect((await create(inbox.id)).status).toBe(201)
  })

  test('are not held up by one that waits for its external id', async () => {
    const { id, inbox } = await service.given.project()
    const blocker = await service.connect()
    await blocker.query('begin')
    const task = await service.given.task(inbox)
    await blocker.query(`update tasks set external_id = 'taken', source = 'api' where id = $1`, [task.id])

    const wait = () => service.post('/api/tasks', { title: 'Waits', listId: inbox.id, externalId: 'taken' })
    const isWaiting = async (count: number) => {
      while ((await service.query(WAITING, [id])).length < count) await sleep(10)
    }
    // More than run at a time.
    const first = wait()
    await isWaiting(1)
    const second = wait()
    await isWaiting(2)
    const others = await times(20, (n) => service.post('/api/tasks', { title: `T${n}`, listId: inbox.id }))
    expect(others.map(({ status }) => status)).toEqual(Array(20).fill(201))

    await blocker.query('rollback')
    blocker.release()
    expect([(await first).status, (await second).status].toSorted()).toEqual([200, 201])
  })
})

const WAITING = `select from pg_stat_activity
  where datname = current_database() and wait_event_type = 'Lock' and query like '%with input as materialized%external_id%' and $1 <> ''`

describe('concurrent changes', () => {
  test('each return their own task, and log who changed what', async () => {
    const { inbox } = await service.given.project()
    const tasks = await times(60, () =>
      service.given.task(inbox, { source: 'api', notes: 'Old', description: 'D' }),
    )
    const changed = await times(60, (n) =>
      service.patch(`/api/tasks/${tasks[n]?.id}`, CHANGES[n % CHANGES.length]),
    )
    expect(changed.map(({ status }) => status)).toEqual(Array(60).fill(200))
    for (const [n, { body, headers }] of changed.entries()) {
      const { body: read } = await service.get(`/api/tasks/${tasks[n]?.id}`)
      expect(read).toEqual(body)
      expect(read).toMatchObject({
        description: 'D',
        notes: 'Old',
        ...CHANGES[n % CHANGES.length],
        version: 2,
      })
      expect(read.completedAt === null).toBe(read.status !== 'done')
      expect(headers.get('etag')).toBe('"2"')
    }
    const logged = await activityOf(tasks.map(({ id }) => id))
    expect(logged).toHaveLength(60)
    expect(logged.filter(({ type }) => type === 'task.completed')).toHaveLength(60 / CHANGES.length)
  })

  test('of one task are all made, one after another', async () => {
    const { inbox } = await service.given.project()
    const task = await service.given.task(inbox, { source: 'api' })
    const options = { key: service.adminKey }
    const responses = await times(40, (n) =>
      (n % 2 ? second : service).patch(`/api/tasks/${task.id}`, { title: `Title ${n}` }, options),
    )
    expect(responses.map(({ status }) => status)).toEqual(Array(40).fill(200))
    expect(responses.map(({ body }) => body.version).toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 40 }, (_, n) => n + 2),
    )
    const titles = responses
      .toSorted((a, b) => a.body.version - b.body.version)
      .map(({ body }) => body.title as string)
    const logged = await service.query(
      `select metadata->'changes'->'title' as title from activity where task_id = $1`,
      [task.id],
    )
    expect(logged.map(({ title: { from, to } }) => `${from} > ${to}`).toSorted()).toEqual(
      titles.map((title, n) => `${n === 0 ? task.title : titles[n - 1]} > ${title}`).toSorted(),
    )
    expect((await service.get(`/api/tasks/${task.id}`)).body).toMatchObject({
      title: titles.at(-1),
      version: 41,
    })
  })

  test('with If-Match change a task once', async () => {
    const { inbox } = await service.given.project()
    const task = await service.given.task(inbox, { source: 'api' })
    const responses = await times(20, (n) =>
      (n % 2 ? second : service).patch(
        `/api/tasks/${task.id}`,
        { title: `Title ${n}` },
        { key: service.adminKey, headers: { 'if-match': '"1"' } },
      ),
    )
    const statuses = responses.map(({ status }) => status).toSorted()
    expect(statuses).toEqual([200, ...Array(19).fill(412)])
  })

  test('fail each for itself', async () => {
    const { inbox } = await service.given.project()
    const archived = await service.given.project({ archivedAt: new Date() })
    const [mine, closed, synced] = [
      await service.given.task(inbox, { source: 'api' }),
      await service.given.task(archived.inbox, { source: 'api' }),
      await service.given.task(inbox, { source: 'codehost', codehostRepositoryId: 1, codehostNumber: 1 }),
    ]
    await service.given.connection(inbox.projectId)
    const bound = await service.given.key({ projectId: archived.id })
    const patch = (id: string | undefined, key = service.adminKey) =>
      service.patch(`/api/tasks/${id}`, { title: 'New' }, { key })
    const responses = await Promise.all([
      patch(mine?.id),
      patch(closed?.id),
      patch(synced?.id),
      patch('01890000-0000-7000-8000-000000000000'),
      patch(mine?.id, bound),
    ])
    expect(responses.map(({ status, body }) => body.code ?? status)).toEqual([
      200,
      'project_archived',
      'managed_by_codehost',
      'task_not_found',
      'task_not_found',
    ])
  })
})

const CHANGES = [
  { status: 'done' },
  { status: 'in_progress' },
  { priority: 'high', labels: ['a,b', 'c"d'] },
  { notes: null, title: 'Renamed' },
  { metadata: { a: [1, { b: 'ü' }] }, assignees: ['x'] },
  { description: 'Longer\n'.repeat(2_000), externalUrl: 'https://example.org/' },
]
