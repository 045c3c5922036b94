import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'
import { linesOf, notificationsOf, notifyAll } from '../support/notifications.ts'
import { person, type SignedIn } from '../support/people.ts'

let service: TestApp
let project: Awaited<ReturnType<TestApp['given']['project']>>
let ada: SignedIn
let bob: SignedIn
let task: { id: string }

beforeAll(async () => {
  service = await startApp()
  project = await service.given.project()
})
afterAll(() => service?.close())
beforeEach(async () => {
  ada = await person(service, { name: 'Ada' })
  bob = await person(service, { name: 'Bob' })
  task = await service.given.task(project.inbox)
})

const comment = async (body: string, { by = bob, on = task }: { by?: SignedIn; on?: { id: string } } = {}) =>
  (await service.post(`/api/tasks/${on.id}/comments`, { body }, by.with)).body
const unreadOf = async ({ with: options }: SignedIn) =>
  (await service.get('/api/notifications/unread', options)).body.count
const follow = (somebody: SignedIn) => service.put(`/api/tasks/${task.id}/follow`, {}, somebody.with)
const unfollow = (somebody: SignedIn) => service.delete(`/api/tasks/${task.id}/follow`, somebody.with)
const follows = async (somebody: SignedIn) =>
  (await service.get(`/api/tasks/${task.id}/follow`, somebody.with)).body.isFollowing

describe('a person is told', () => {
  test('of a mention in a comment, once until it is read', async () => {
    await comment(`Please look, @${ada.username}.`)
    const [first, ...others] = await notificationsOf(service, ada)
    expect(others).toEqual([])
    expect(first).toMatchObject({
      reason: 'mentioned',
      taskId: task.id,
      count: 1,
      readAt: null,
      actor: { type: 'user', id: bob.id, name: 'Bob' },
    })
    await comment(`@${ada.username.toUpperCase()} again`)
    const repeated = await notificationsOf(service, ada)
    expect(linesOf(repeated)).toEqual(['mentioned 2'])
    expect(repeated[0]?.id).not.toBe(first?.id)
  })

  test('of an assignment by somebody else, in a create or a change', async () => {
    await service.patch(`/api/tasks/${task.id}`, { assignees: ['eve', ada.username, bob.username] }, bob.with)
    expect(linesOf(await notificationsOf(service, ada))).toEqual(['assigned 1'])
    expect(await notificationsOf(service, bob)).toEqual([])
    await service.post('/api/tasks', { title: 'New', assignees: [ada.username] })
    expect(linesOf(await notificationsOf(service, ada))).toEqual(['assigned 1', 'assigned 1'])
    const ids = [task.id]
    await service.patch('/api/tasks/bulk', { ids, change: { assignees: [] } })
    await service.patch('/api/tasks/bulk', { ids, change: { assignees: [ada.username] } })
    expect(linesOf(await notificationsOf(service, ada))).toEqual(['assigned 2', 'assigned 1'])
  })

  test('once of a task that was assigned and changed before anybody was told', async () => {
    const { body } = await service.post('/api/tasks', { title: 'New', assignees: ['eve'] })
    await service.patch(`/api/tasks/${body.id}`, { assignees: ['eve', ada.username] })
    await service.patch(`/api/tasks/${body.id}`, { assignees: [] })
    expect(linesOf(await notificationsOf(service, ada))).toEqual(['assigned 1'])
  })

  test('of comments on a task that the person follows, but not of own ones', async () => {
    await follow(ada)
    await comment('One')
    await comment('Mine', { by: ada })
    await service.post(`/api/tasks/${task.id}/comments`, { body: 'By a key' })
    expect(linesOf(await notificationsOf(service, ada))).toEqual(['commented 2'])
    expect(linesOf(await notificationsOf(service, bob))).toEqual(['commented 2'])
  })

  test('of a claim that ended before the work was done', async () => {
    await service.post(`/api/tasks/${task.id}/claim`, {}, ada.with)
    await service.query(`update tasks set claim_expires_at = now() - interval '1 s' where id = $1`, [task.id])
    await service.service.claims.openExpired()
    const all = await notificationsOf(service, ada)
    expect(all).toMatchObject([{ reason: 'claim_expired', count: 1, actor: { type: 'system' } }])
  })

  test('of a question, instead of the comment, if the task is theirs or they follow it', async () => {
    const eve = await person(service, { name: 'Eve' })
    const ask = (with_: object = {}) =>
      service.post(`/api/tasks/${task.id}/comments`, { body: 'Which?', needsAnswer: true }, with_)
    await service.patch(`/api/tasks/${task.id}`, { assignees: [ada.username] }, ada.with)
    await unfollow(ada)
    await follow(bob)
    await follow(eve)
    await notifyAll(service)
    await ask()
    await ask(eve.with)
    expect(linesOf(await notificationsOf(service, ada))).toEqual(['question 2'])
    expect(linesOf(await notificationsOf(service, bob))).toEqual(['question 2'])
    expect(linesOf(await notificationsOf(service, eve))).toEqual(['question 1'])
  })

  test('of a question that concerns nobody, if the person is an owner', async () => {
    const owner = await person(service, { name: 'Olga', role: 'owner' })
    const asked = { body: 'Which?', needsAnswer: true }
    await service.post(`/api/tasks/${task.id}/comments`, asked)
    expect(linesOf(await notificationsOf(service, owner))).toEqual(['question 1'])
    expect(await notificationsOf(service, ada)).toEqual([])
    await follow(ada)
    await service.post(`/api/tasks/${task.id}/comments`, asked)
    expect(linesOf(await notificationsOf(service, owner))).toEqual(['question 1'])
    expect(linesOf(await notificationsOf(service, ada))).toEqual(['question 1'])
  })

  test('of a mention and not also of the comment', async () => {
    await follow(ada)
    await comment(`Look, @${ada.username}`)
    expect(linesOf(await notificationsOf(service, ada))).toEqual(['mentioned 1'])
  })
})

describe('following', () => {
  test('begins by itself with a create, a comment, an assignment, and a mention', async () => {
    const made = await service.post('/api/tasks', { title: 'Mine' }, ada.with)
    await comment('Text', { by: ada })
    await notifyAll(service)
    expect(await follows(ada)).toBe(true)
    const { body } = await service.get(`/api/tasks/${made.body.id}/follow`, ada.with)
    expect(body).toEqual({ isFollowing: true })
    const carl = await person(service)
    await service.patch(`/api/tasks/${task.id}`, { assignees: [carl.username] })
    await comment(`For @${bob.username}`, { by: ada })
    await notifyAll(service)
    expect([await follows(carl), await follows(bob)]).toEqual([true, true])
  })

  test('ends when the person says so, until the next comment of that person', async () => {
    await comment('Text', { by: ada })
    expect((await unfollow(ada)).status).toBe(204)
    await comment('Another')
    expect(await notificationsOf(service, ada)).toEqual([])
    expect(await follows(ada)).toBe(false)
    await comment('Text', { by: ada })
    await comment('And another')
    expect(linesOf(await notificationsOf(service, ada))).toEqual(['commented 1'])
  })

  test('needs a task in reach, and a person', async () => {
    const other = await person(service, { projectIds: [(await service.given.project()).id] })
    for (const method of ['GET', 'PUT', 'DELETE'] as const) {
      const path = `/api/tasks/${task.id}/follow`
      expect((await service.call(method, path, other.with)).body.code).toBe('task_not_found')
      expect((await service.call(method, path)).body.code).toBe('person_required')
    }
    const { body } = await service.post('/api/me/keys', { name: 'Script' }, ada.with)
    expect((await service.put(`/api/tasks/${task.id}/follow`, {}, { key: body.key })).body).toEqual({
      isFollowing: true,
    })
  })
})

describe('nobody is told', () => {
  test('of a mention in code, by oneself, or of somebody who can’t read the task or sign in', async () => {
    const outside = await person(service, { projectIds: [(await service.given.project()).id] })
    const gone = await person(service)
    await service.patch(`/api/users/${gone.id}`, { isActive: false })
    await comment(
      `\`@${ada.username}\`\n\n~~~\n@${ada.username}\n~~~\n@${bob.username} x@${ada.username}.com`,
    )
    await comment(`@${outside.username} @${gone.username}`)
    for (const somebody of [ada, bob, outside]) expect(await notificationsOf(service, somebody)).toEqual([])
    expect(await service.query('select from notifications where user_id = $1', [gone.id])).toEqual([])
  })

  test('twice of a comment that is edited: only those whom the edit adds', async () => {
    const { id } = await comment(`@${ada.username}`)
    await notifyAll(service)
    const carl = await person(service)
    await service.patch(`/api/comments/${id}`, { body: `@${ada.username} and @${carl.username}` }, bob.with)
    expect(linesOf(await notificationsOf(service, ada))).toEqual(['mentioned 1'])
    expect(linesOf(await notificationsOf(service, carl))).toEqual(['mentioned 1'])
  })

  test('beyond twenty people of one comment', async () => {
    const names = Array.from({ length: 1_000 }, (_, n) => `@nobody-${n}`).join(' ')
    const people = await Promise.all(Array.from({ length: 22 }, () => person(service)))
    await comment(`${names} ${people.map(({ username }) => `@${username} @${username}`).join(' ')}`)
    await notifyAll(service)
    const rows = await service.query('select user_id, count from notifications where task_id = $1', [task.id])
    expect(rows).toHaveLength(20)
    expect(new Set(rows.map(({ count }) => count))).toEqual(new Set([1]))
  })

  test('of notes that mention the same person again', async () => {
    const notes = `Ask @${ada.username}`
    await service.patch(`/api/tasks/${task.id}`, { notes }, bob.with)
    await service.patch(`/api/tasks/${task.id}`, { notes: `${notes} about it` }, bob.with)
    expect(linesOf(await notificationsOf(service, ada))).toEqual(['mentioned 1'])
  })
})

describe('the list', () => {
  test('has pages, and what is unread', async () => {
    for (const title of ['a', 'b', 'c'])
      await service.post('/api/tasks', { title, assignees: [ada.username] })
    const all = await notificationsOf(service, ada)
    expect(all).toMatchObject([{ taskTitle: 'c' }, { taskTitle: 'b' }, { taskTitle: 'a' }])
    expect(await unreadOf(ada)).toBe(3)
    const { body } = await service.post('/api/notifications/read', { ids: [all[1]?.id] }, ada.with)
    expect(body).toEqual({ count: 2 })
    expect(await notificationsOf(service, ada, '&unread=true')).toMatchObject([
      { taskTitle: 'c' },
      { taskTitle: 'a' },
    ])
    expect(await notificationsOf(service, ada, '&unread=false')).toMatchObject([{ taskTitle: 'b' }])
    const page = await service.get('/api/notifications?limit=2', ada.with)
    const next = `/api/notifications?limit=2&cursor=${page.body.nextCursor}`
    expect((await service.get(next, ada.with)).body).toMatchObject({
      data: [{ taskTitle: 'a' }],
      nextCursor: null,
    })
    await service.post('/api/notifications/read', { all: true }, ada.with)
    expect(await unreadOf(ada)).toBe(0)
  })

  test('leaves what was repeated meanwhile unread', async () => {
    await comment(`@${ada.username}`)
    const [seen] = await notificationsOf(service, ada)
    await comment(`@${ada.username}`)
    await notifyAll(service)
    const { body } = await service.post('/api/notifications/read', { ids: [seen?.id] }, ada.with)
    expect(body).toEqual({ count: 1 })
  })

  test('hides what the person can’t read any more', async () => {
    await comment(`@${ada.username}`)
    expect(await notificationsOf(service, ada)).toHaveLength(1)
    await service.delete(`/api/tasks/${task.id}`)
    expect([await notificationsOf(service, ada), await unreadOf(ada)]).toEqual([[], 0])
    await service.post(`/api/tasks/${task.id}/restore`)
    expect(await unreadOf(ada)).toBe(1)
    const projectIds = [(await service.given.project()).id]
    await service.patch(`/api/users/${ada.id}`, { projectIds })
    expect([await notificationsOf(service, ada), await unreadOf(ada)]).toEqual([[], 0])
    await service.query('delete from tasks where id = $1', [task.id])
    expect(await service.query('select from notifications where user_id = $1', [ada.id])).toEqual([])
  })

  test('is of people, each their own', async () => {
    await comment(`@${ada.username}`)
    const [first] = await notificationsOf(service, ada)
    await service.post('/api/notifications/read', { ids: [first?.id] }, bob.with)
    await service.post('/api/notifications/read', { all: true }, bob.with)
    expect(await unreadOf(ada)).toBe(1)
    const refused = [
      await service.get('/api/notifications'),
      await service.get('/api/notifications/unread'),
      await service.post('/api/notifications/read', { all: true }),
    ]
    expect(refused.map(({ status, body }) => [status, body.code])).toEqual(
      Array(3).fill([403, 'person_required']),
    )
    for (const body of [{}, { all: true, ids: [first?.id] }, { all: false }, { ids: [] }])
      expect((await service.post('/api/notifications/read', body, ada.with)).status).toBe(400)
  })
})
