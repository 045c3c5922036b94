import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ApiResponse, startApp, type TestApp } from '../support/app.ts'
import { UNKNOWN_ID } from '../support/patterns.ts'

let service: TestApp
beforeAll(async () => {
  service = await startApp()
})
afterAll(() => service.close())

const log = (body: unknown, key?: string) => service.post('/api/activity', body, key ? { key } : {})
const messages = (page: ApiResponse) => page.body.data.map(({ message }: { message: string }) => message)

describe('the list of activities', () => {
  test('has the newest first, with all members', async () => {
    const { id: projectId } = await service.given.project()
    const bodies = []
    for (const message of ['first', 'second', 'third']) {
      bodies.push((await log({ type: 'x', message, projectId })).body)
    }

    const page = await service.get(`/api/activity?projectId=${projectId}`)

    expect(page.status).toBe(200)
    expect(page.body).toEqual({ data: bodies.reverse(), nextCursor: null })
  })

  test('has what the service recorded about a task, also when the task is deleted', async () => {
    const { body: task } = await service.post('/api/tasks', { title: 'A task' })
    await service.patch(`/api/tasks/${task.id}`, { status: 'done' })
    await log({ type: 'note', taskId: task.id })
    await service.delete(`/api/tasks/${task.id}`)
    const types = async () =>
      (await service.get(`/api/activity?taskId=${task.id}`)).body.data.map(
        ({ type }: { type: string }) => type,
      )

    const whole = ['task.deleted', 'note', 'task.completed', 'task.created']
    expect(await types()).toEqual(whole)
    await service.query('delete from tasks where id = $1', [task.id])
    expect(await types()).toEqual(whole)
  })

  test('of a task without activity is empty', async () => {
    const project = await service.given.project()
    const task = await service.given.task(project.inbox, { deletedAt: new Date() })

    expect((await service.get(`/api/activity?taskId=${task.id}`)).body).toEqual({
      data: [],
      nextCursor: null,
    })
  })

  test.each([
    [`taskId=${UNKNOWN_ID}`, 404, 'task_not_found'],
    [`projectId=${UNKNOWN_ID}`, 404, 'project_not_found'],
    ['taskId=1', 400, 'validation_failed'],
    ['actorId=1', 400, 'validation_failed'],
    ['type=', 400, 'validation_failed'],
    ['type=A', 400, 'validation_failed'],
    ['since=yesterday', 400, 'validation_failed'],
    ['since=2026-02-30T00:00:00Z', 400, 'validation_failed'],
    ['limit=0', 400, 'validation_failed'],
    ['limit=201', 400, 'validation_failed'],
    ['cursor=x', 400, 'invalid_cursor'],
    [
      `cursor=${Buffer.from(JSON.stringify(['-createdAt', null, UNKNOWN_ID])).toString('base64url')}`,
      400,
      'invalid_cursor',
    ],
    ['sort=createdAt', 400, 'validation_failed'],
  ])('rejects %s', async (query, status, code) => {
    const response = await service.get(`/api/activity?${query}`)

    expect([response.status, response.body.code]).toEqual([status, code])
  })

  test('applies its filters', async () => {
    const { id: projectId, inbox } = await service.given.project()
    const task = await service.given.task(inbox)
    const name = 'Somebody else'
    const other = await service.given.key({ name })
    const [{ id: otherId }] = (await service.query('select id from api_keys where name = $1', [name])) as [
      { id: string },
    ]
    const dayOf = (day: number) => new Date(Date.UTC(2026, 0, day))
    const given = service.given.activity
    await given({ projectId, message: 'a', type: 'x', createdAt: dayOf(1) })
    await given({ projectId, message: 'b', type: 'y', createdAt: dayOf(2), taskId: task.id })
    await given({ projectId, message: 'c', type: 'z', createdAt: dayOf(3) })
    await log({ type: 'x', message: 'd', projectId, taskId: task.id }, other)
    const kept = async (filter: string) =>
      messages(await service.get(`/api/activity?projectId=${projectId}&${filter}`))
        .reverse()
        .join('')

    expect(await kept('')).toBe('abcd')
    expect(await kept('type=x')).toBe('ad')
    expect(await kept('type=x&type=y')).toBe('abd')
    expect(await kept('type=nothing.like-this')).toBe('')
    expect(await kept(`taskId=${task.id}`)).toBe('bd')
    expect(await kept(`taskId=${task.id}&type=x`)).toBe('d')
    expect(await kept(`actorId=${otherId}`)).toBe('d')
    expect(await kept(`actorId=${UNKNOWN_ID}`)).toBe('')
    expect(await kept('since=2026-01-02T00:00:00.000Z')).toBe('bcd')
    expect(await kept('since=2026-01-02T00:00:00.001Z')).toBe('cd')
    expect(await kept('since=2026-01-02T02:00:00%2B02:00')).toBe('bcd')
    expect(await kept('since=0001-01-01T00:00:00Z')).toBe('abcd')
    expect(await kept('since=9999-12-31T23:59:59.999Z')).toBe('')
    expect(await kept(`since=2026-01-02T00:00:00Z&taskId=${task.id}&type=y`)).toBe('b')
  })

  test('is paged without gaps and repeats while it grows', async () => {
    const { id: projectId } = await service.given.project()
    const all: string[] = []
    for (let i = 0; i < 25; i++)
      all.unshift(await service.given.activity({ projectId, type: i % 2 ? 'x' : 'y' }))
    const seen: string[] = []
    const sizes: number[] = []
    let cursor = ''
    do {
      const page = await service.get(`/api/activity?projectId=${projectId}&limit=10${cursor}`)
      seen.push(...page.body.data.map(({ id }: { id: string }) => id))
      sizes.push(page.body.data.length)
      cursor = page.body.nextCursor && `&cursor=${page.body.nextCursor}`
      await service.given.activity({ projectId })
    } while (cursor)

    expect(seen).toEqual(all)
    expect(sizes).toEqual([10, 10, 5])
  })

  test('shows a bound key only its project', async () => {
    const project = await service.given.project()
    const other = await service.given.project()
    const key = await service.given.key({ projectId: project.id, scopes: ['tasks:read'] })
    const task = await service.given.task(other.inbox)
    await service.given.activity({ projectId: project.id, message: 'mine' })
    await service.given.activity({ projectId: other.id, message: 'other', taskId: task.id })
    await service.given.activity({ message: 'service-wide' })

    expect(messages(await service.get('/api/activity', { key }))).toEqual(['mine'])
    expect((await service.get(`/api/activity?projectId=${other.id}`, { key })).body.code).toBe(
      'project_not_found',
    )
    expect((await service.get(`/api/activity?taskId=${task.id}`, { key })).body.code).toBe('task_not_found')
  })
})
