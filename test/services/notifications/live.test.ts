import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TestApp } from '../../support/app.ts'
import { closed, exported, importInto, linesIn } from '../../support/exports.ts'
import { linesOf, notificationsOf, notifyAll } from '../../support/notifications.ts'
import { person, type SignedIn } from '../../support/people.ts'
import { sourceOf } from '../../support/sources.ts'
import { workOnStatus } from '../../support/status.ts'
import { listenTo } from '../../support/stream.ts'
import { startTwoInstances, type TwoInstances } from '../../support/two-instances.ts'

let instances: TwoInstances
let service: TestApp
let second: TestApp
let ada: SignedIn
let bob: SignedIn
beforeAll(async () => {
  instances = await startTwoInstances({ env: { ENCRYPTION_KEY: 'ab'.repeat(32) } })
  ;({ service, second } = instances)
  ada = await person(service, { role: 'owner' })
  bob = await person(service)
})
afterAll(() => instances.close())

const assign = ({ username }: SignedIn) => service.post('/api/tasks', { title: 'A', assignees: [username] })
const isAbout = ({ event }: { event: string }) => event === 'notification.changed'

describe('the stream', () => {
  test('tells a person on any instance that the number may be another one, and nobody else', async () => {
    const [own, others, keys] = await Promise.all([
      listenTo(second, { headers: ada.at(second).headers }),
      listenTo(second, { headers: bob.at(second).headers }),
      listenTo(second),
    ])
    await assign(ada)
    await notifyAll(service)
    await own.until((events) => events.some(isAbout))
    await service.post('/api/notifications/read', { all: true }, ada.with)
    await own.until((events) => events.filter(isAbout).length === 2)
    await assign(bob)
    await notifyAll(service)
    await others.until((events) => events.some(isAbout))
    expect(keys.events.filter(isAbout)).toEqual([])
    expect([own, others].map(({ events }) => events.filter(isAbout).length)).toEqual([2, 1])
    expect(own.events.find(isAbout)).toEqual({ id: null, event: 'notification.changed', data: {} })
    for (const each of [own, others, keys]) each.close()
  })
})

describe('what Inlet receives and sends through', () => {
  const failure = { code: 'invalid_json', message: 'Invalid JSON.' }
  const givenPipe = async () => ({ kind: 'source', id: (await sourceOf(service)).source.id }) as const

  test('is reported to owners when it fails, until all works again', async () => {
    const [first, other] = [await givenPipe(), await givenPipe()]
    const { pipes } = service.service
    const unread = async (somebody: SignedIn) =>
      linesOf(
        (await notificationsOf(service, somebody, '&unread=true')).filter(
          ({ reason }) => reason === 'broken',
        ),
      )
    for (const pipe of [first, other]) pipes.failed(pipe, failure)
    await workOnStatus(service)
    expect([await unread(ada), await unread(bob)]).toEqual([['broken 2'], []])
    pipes.succeeded(first)
    await workOnStatus(service)
    expect(await unread(ada)).toEqual(['broken 2'])
    pipes.succeeded(other)
    await workOnStatus(service)
    expect(await unread(ada)).toEqual([])
    expect(linesOf(await notificationsOf(service, ada, '&unread=false'))).toContain('broken 2')
    // An owner no more: it is about the service.
    const carl = await person(service, { role: 'owner' })
    const third = await givenPipe()
    pipes.failed(third, failure)
    await workOnStatus(service)
    expect(await unread(carl)).toEqual(['broken 1'])
    await service.patch(`/api/users/${carl.id}`, { role: 'member' })
    expect(await unread(carl)).toEqual([])
  })
})

describe('history', () => {
  test('tells nobody after an import', async () => {
    const source = await startTwoInstances()
    const grace = await person(source.service, { username: 'grace' })
    const task = await source.service.post('/api/tasks', { title: 'A', assignees: ['grace'] })
    const path = `/api/tasks/${task.body.id}`
    await source.service.post(`${path}/comments`, { body: 'Hello @grace' })
    const text = closed(linesIn(await exported(source.service)).slice(0, -1))
    await source.close()

    const target = await startTwoInstances()
    const before = await person(target.service)
    await target.service.post('/api/tasks', { title: 'Old', assignees: [before.username] })
    await notifyAll(target.service)
    expect(await target.service.query('select from notifications')).toHaveLength(1)
    await target.service.query('delete from tasks')
    expect((await importInto(target.service, text)).status).toBe(200)
    await notifyAll(target.service)
    expect(await target.service.query('select from notifications')).toEqual([])
    await target.service.post(`${path}/comments`, { body: 'Now, @grace' })
    await notifyAll(target.service)
    expect(await target.service.query('select user_id, reason, count from notifications')).toEqual([
      { user_id: grace.id, reason: 'mentioned', count: 1 },
    ])
    await target.close()
  })

  test('is skipped while there is nobody to tell', async () => {
    await service.query('update users set is_active = false')
    await assign(ada)
    await notifyAll(service)
    const [{ is_done: isDone }] = await service.query(
      'select position = last_position as is_done from notification_progress, change_feed',
    )
    await service.query('update users set is_active = true')
    expect(isDone).toBe(true)
    await notifyAll(service)
    expect(linesOf(await notificationsOf(service, ada, '&unread=true'))).not.toContain('assigned 1')
  })

  test('is deleted 30 days after it was read', async () => {
    await assign(bob)
    await notifyAll(service)
    await service.post('/api/notifications/read', { all: true }, bob.with)
    await service.query(
      `update notifications set read_at = now() - interval '30 days 1 minute' where user_id = $1`,
      [bob.id],
    )
    await assign(bob)
    await notifyAll(service)
    await service.service.cleanup.cleanUp()
    expect(linesOf(await notificationsOf(service, bob))).toEqual(['assigned 1'])
  })
})
