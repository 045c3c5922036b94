import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { dedupKeyOf, readEvent } from '../../../src/domain/feedback/event.ts'
import { startApp, type TestApp } from '../../support/app.ts'
import { feedback, storing } from '../../support/feedback.ts'
import { type Locks, locksOf } from '../../support/locks.ts'

let service: TestApp
let locks: Locks
beforeAll(async () => {
  service = await startApp({ env: { WEBHOOK_SECRET: 'a-secret-of-16-characters' } })
  locks = locksOf(service)
})
afterAll(() => service.close())

/** As the receiver takes it, and fails where that would have to try again. */
async function deliver(event: object) {
  const receipt = await (await storing(service, event))()
  if (!('tasks' in receipt)) throw new Error('It has no task.')
  return receipt
}

const replay = (id: string) => service.post(`/api/deliveries/${id}/replay`)

/** A project that the feedback of an app goes to from now on. */
async function targetOf(app: string, { hasList = true } = {}) {
  const project = await service.given.project()
  if (hasList) await service.given.list(project.id, { name: 'User Feedback' })
  await service.post('/api/webhook-routing', { appMatch: app, targetProjectId: project.id })
  return project
}

/** A transaction that has the same event in hand: whoever brings it now waits, with the project locked. */
function sameEventComingIn(event: object): string {
  const reading = readEvent(event)
  if (reading.outcome !== 'accepted') throw new Error('It is no feedback.')
  return `insert into deliveries (id, receiver, dedup_key, outcome, duplicates, attempts, received_at, tasks, payload_cut)
    values ('${randomUUID()}', 'feedback', '${dedupKeyOf(reading.event)}', 'accepted', 0, 0, now(), '[]', false)`
}

const someApp = () => `app.${randomUUID()}`

/** Two deliveries that wait for a lock, in batches of their own: with both at work, what comes then goes in together. */
async function twoAtWork() {
  const first = deliver(feedback())
  await locks.waiting(1, first)
  const both = [first, deliver(feedback())]
  await locks.waiting(2, ...both)
  return both
}

const tasksIn = async (projectId: string) =>
  (await service.query('select id from tasks where project_id = $1', [projectId])).length

/** Archives the project; returns how many tasks it had then. */
async function archived(projectId: string) {
  const { status } = await service.post(`/api/projects/${projectId}/archive`)
  return { status, tasks: await tasksIn(projectId) }
}

describe('archiving the project', () => {
  test('waits for feedback that is being stored in it, and later feedback goes elsewhere', async () => {
    const app = someApp()
    const project = await targetOf(app)
    const event = feedback({ app_id: app })
    const release = await locks.acquire(sameEventComingIn(event))
    const delivered = deliver(event)
    await locks.waiting(1, delivered)
    const response = archived(project.id)
    await locks.waiting(2, response)
    await release()

    expect(await delivered).toMatchObject({ projectId: project.id })
    expect(await response).toEqual({ status: 200, tasks: 1 })
    const next = await deliver(feedback({ app_id: app }))
    expect(next.projectId).not.toBe(project.id)
    expect(await tasksIn(project.id)).toBe(1)
  })

  test('sends feedback that arrives afterwards elsewhere', async () => {
    const app = someApp()
    const project = await targetOf(app)
    const release = await locks.acquire(`select from projects where id = '${project.id}' for update`)
    const response = archived(project.id)
    await locks.waiting(1, response)
    const delivered = deliver(feedback({ app_id: app }))
    await locks.waiting(2, delivered)
    await release()

    const [{ status, tasks }] = await Promise.all([response, delivered])
    expect(status).toBe(200)
    expect(await tasksIn(project.id)).toBe(tasks)
  })

  test('waits for a replay that moves a task into it', async () => {
    const app = someApp()
    const { deliveryId } = await deliver(feedback({ app_id: app }))
    const { id } = await targetOf(app)
    const release = await locks.acquire('lock table activity in share mode')
    const replayed = replay(deliveryId)
    await locks.waiting(1, replayed)
    const response = archived(id)
    await locks.waiting(2, response)
    await release()

    expect(await replayed).toMatchObject({ status: 200, body: { projectId: id } })
    expect(await response).toEqual({ status: 200, tasks: 1 })
  })
})

test('a first delivery that is retried because repeats could not be counted is not a repeat', async () => {
  const repeated = feedback()
  const { deliveryId } = await deliver(repeated)
  const releaseEvents = await locks.acquire('lock table deliveries in share mode')
  const before = await twoAtWork()
  const storeFresh = await storing(service, feedback())
  const storeRepeat = await storing(service, repeated)
  const together = [storeFresh(), storeRepeat()]
  const outcomes = Promise.allSettled(together)
  const releaseInbox = await locks.acquire(`select from deliveries where id = '${deliveryId}' for update`)
  await releaseEvents()
  await Promise.all(before)
  await locks.waiting(1, ...together)
  await service.query(`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`)
  expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  await releaseInbox()

  expect(await storeFresh()).toMatchObject({ duplicate: false })
  expect(await storeRepeat()).toMatchObject({ duplicate: true, deliveryId })
  const events = await service.query('select duplicates from deliveries order by id desc limit 1')
  expect(events).toEqual([{ duplicates: 0 }])
  expect((await service.get(`/api/deliveries/${deliveryId}`)).body.duplicates).toBe(1)
})

test('a replay and a delivery that create one list and share an event wait for each other', async () => {
  const app = someApp()
  const repeated = feedback({ app_id: app })
  const { deliveryId, taskId } = await deliver(repeated)
  const project = await targetOf(app, { hasList: false })
  const releaseEvents = await locks.acquire('lock table deliveries in share mode')
  const releaseLists = await locks.acquire('lock table lists in share mode')
  const before = await twoAtWork()
  const together = [deliver(repeated), deliver(feedback({ app_id: app }))]
  await releaseEvents()
  await Promise.all(before)
  await locks.waiting(1, ...together)
  const replayed = replay(deliveryId)
  await locks.waiting(2, replayed)
  await releaseLists()

  const [repeat, fresh] = await Promise.all(together)
  expect(repeat).toMatchObject({ duplicate: true, taskId })
  expect(fresh).toMatchObject({ duplicate: false, projectId: project.id })
  expect(await replayed).toMatchObject({ status: 200, body: { tasks: [{ taskId }], projectId: project.id } })
  expect(await tasksIn(project.id)).toBe(2)
  const { data } = (await service.get(`/api/projects/${project.id}/lists`)).body
  expect(data.map(({ name }: { name: string }) => name)).toEqual(['Inbox', 'User Feedback'])
})
