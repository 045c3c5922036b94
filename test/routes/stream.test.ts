import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'
import { UNKNOWN_ID } from '../support/patterns.ts'
import { hasId, idsOf, type StreamEvent, stored, streamListeners } from '../support/stream.ts'

let service: TestApp
beforeAll(async () => {
  service = await startApp()
})
const { follow, closeAll } = streamListeners(() => service)
afterEach(closeAll)
afterAll(() => service.close())

const log = async (body: object, on: TestApp = service) => (await on.post('/api/activity', body)).body
const messages = (events: StreamEvent[]) => stored(events).map(({ data }) => data.message)

describe('the stream', () => {
  test('starts at once, before anything happens', async () => {
    const listener = await follow()

    expect(listener.status).toBe(200)
    expect(Object.fromEntries(listener.headers)).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    })
    expect(listener.headers.get('content-encoding')).toBeNull()
    while (listener.comments === 0) await sleep(5)
    expect(listener.events).toEqual([])
  })

  test('sends each activity with its id, its type and the same members as a read', async () => {
    const listener = await follow()
    const { body: task } = await service.post('/api/tasks', { title: 'A task' })
    const note = await log({ type: 'deploy.finished', message: 'a\r\nb\u2028c\n\nd', metadata: { a: [1] } })

    await listener.until(hasId(note.id))

    const [first, second] = listener.events
    expect([first?.event, first?.data.taskId]).toEqual(['task.created', task.id])
    expect(second).toEqual({
      id: expect.stringMatching(/^[\w-]{32}$/),
      event: 'deploy.finished',
      data: note,
    })
    expect(second?.data).toEqual((await service.get(`/api/activity/${note.id}`)).body)
  })

  test('sends nothing older, and everything after the headers', async () => {
    const before = await log({ type: 'x' })
    const listener = await follow()
    const after = await log({ type: 'x' })

    await listener.until(hasId(after.id))

    expect(idsOf(listener.events)).toEqual([after.id])
    expect(listener.events).not.toContain(before.id)
  })

  test('of a project has only what is about it', async () => {
    const one = await service.given.project()
    const other = await service.given.project()
    const listener = await follow({ query: `?projectId=${one.id}` })

    await log({ type: 'x', message: 'service-wide' })
    await log({ type: 'x', message: 'other', projectId: other.id })
    const mine = await log({ type: 'x', message: 'mine', projectId: one.id })

    expect(messages(await listener.until(hasId(mine.id)))).toEqual(['mine'])
  })

  test('shows a bound key only its own project, also in a replay', async () => {
    const one = await service.given.project()
    const other = await service.given.project()
    const key = await service.given.key({ scopes: ['tasks:read'], projectId: one.id })
    const first = await log({ type: 'x', message: 'first', projectId: one.id })
    await log({ type: 'x', message: 'other', projectId: other.id })
    await log({ type: 'x', message: 'service-wide' })
    const live = await follow({ key })
    const replayed = await follow({ key, lastEventId: first.id })

    await log({ type: 'x', message: 'other', projectId: other.id })
    const last = await log({ type: 'x', message: 'last', projectId: one.id })

    expect(messages(await live.until(hasId(last.id)))).toEqual(['last'])
    expect(messages(await replayed.until(hasId(last.id)))).toEqual(['first', 'last'])
    expect((await service.get(`/api/stream?projectId=${other.id}`, { key })).body.code).toBe(
      'project_not_found',
    )
  })

  test('sends changes that are not recorded, without an id', async () => {
    const project = await service.given.project()
    const other = await service.given.project()
    const listener = await follow({ query: `?projectId=${project.id}` })

    const { feed } = service.service
    for (const projectId of [other.id, project.id]) {
      feed.publish({ id: null, type: 'sync.progress', projectId, data: JSON.stringify({ projectId }) })
    }

    expect(await listener.until(({ length }) => length > 0)).toEqual([
      { id: null, event: 'sync.progress', data: { projectId: project.id } },
    ])
  })

  test('sends changes of projects, their lists and routing, to those who may see them', async () => {
    const { post, patch } = service
    const all = await follow()
    const { body: project } = await post('/api/projects', { name: 'Watched' })
    const { body: other } = await post('/api/projects', { name: 'Not watched' })
    const mine = await follow({ query: `?projectId=${project.id}` })
    const changes = [
      () => patch(`/api/projects/${project.id}`, { name: 'Renamed' }),
      () => post(`/api/projects/${other.id}/lists`, { name: 'Elsewhere' }),
      () => post(`/api/projects/${project.id}/archive`),
      () => post(`/api/projects/${project.id}/unarchive`),
      () => post(`/api/projects/${project.id}/lists`, { name: 'Later' }),
      (list: string) => patch(`/api/lists/${list}`, { position: 0 }),
      (list: string) => service.delete(`/api/lists/${list}`),
      () => post('/api/webhook-routing', { appMatch: 'watched', targetProjectId: project.id }),
      (rule: string) => patch(`/api/webhook-routing/${rule}`, { isActive: false }),
      (rule: string) => service.delete(`/api/webhook-routing/${rule}`),
      () => service.delete(`/api/projects/${project.id}`),
    ]
    let made = ''
    for (const change of changes) {
      const { status, body } = await change(made)
      expect(status).toBeLessThan(300)
      if (status === 201) made = body.id
    }

    const here = { id: null, event: 'project.changed', data: { projectId: project.id } }
    const there = { id: null, event: 'project.changed', data: { projectId: other.id } }
    const routing = { id: null, event: 'routing.changed', data: {} }
    const expected = [here, there, here, there, ...Array(5).fill(here), ...Array(3).fill(routing), here]
    // Activity of the same changes comes beside it.
    const passing = (events: StreamEvent[]) => events.filter(({ id }) => id === null)
    await all.until((events) => passing(events).length === expected.length)
    await mine.until((events) => passing(events).length === 7)
    expect(passing(all.events)).toEqual(expected)
    expect(passing(mine.events)).toEqual(Array(7).fill(here))
  })

  test('sends nothing about what did not change, or was rolled back', async () => {
    const { post, patch } = service
    const { body: project } = await post('/api/projects', { name: 'The same' })
    const { body: lists } = await service.get(`/api/projects/${project.id}/lists`)
    const listener = await follow({ query: `?projectId=${project.id}` })
    await patch(`/api/projects/${project.id}`, { name: 'The same' })
    await post(`/api/projects/${project.id}/unarchive`)
    await post(`/api/projects/${project.id}/lists`, { name: '' })
    await patch(`/api/lists/${lists.data[0].id}`, { name: 'Inbox', position: 0 })
    await post(`/api/projects/${project.id}/archive`)
    // The activity of the last change comes beside it.
    const passing = (events: StreamEvent[]) => events.filter(({ id }) => id === null)
    await listener.until((events) => passing(events).length > 0)
    expect(passing(listener.events)).toHaveLength(1)
  })

  test('of another instance sends changes of projects too, and asks to reload all after missed notices', async () => {
    const other = await startApp({ connectionString: service.connectionString })
    const listener = await follow({}, other)
    const { body: project } = await service.post('/api/projects', { name: 'From afar' })
    await listener.until((events) => events.some(({ data }) => data.projectId === project.id))
    const key = await service.given.key({ scopes: ['tasks:read'], projectId: project.id })
    const bound = await follow({ key }, other)
    await service.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'inlet listen' and datname = current_database()",
    )
    await listener.until((events) => events.some(({ data }) => data.projectId === null))
    await listener.until((events) => events.some(({ event }) => event === 'routing.changed'))
    await bound.until(({ length }) => length > 0)
    expect(bound.events).toEqual([{ id: null, event: 'project.changed', data: { projectId: null } }])
    listener.close()
    bound.close()
    await other.close()
  })

  test.each([
    ['a projectId that is none', '?projectId=1', undefined, 400, 'validation_failed', 'query.projectId'],
    ['an unknown name', '?lastEventId=1', undefined, 400, 'validation_failed', 'query.lastEventId'],
    ['an unknown project', `?projectId=${UNKNOWN_ID}`, undefined, 404, 'project_not_found', undefined],
    ['a Last-Event-ID that is none', '', '12', 400, 'validation_failed', 'header.last-event-id'],
    ['an empty Last-Event-ID', '', '', 400, 'validation_failed', 'header.last-event-id'],
    ['two in one', '', `${UNKNOWN_ID}, ${UNKNOWN_ID}`, 400, 'validation_failed', 'header.last-event-id'],
  ])('rejects %s', async (_, query, lastEventId, status, code, path) => {
    const headers = lastEventId === undefined ? {} : { 'last-event-id': lastEventId }
    const response = await service.get(`/api/stream${query}`, { headers })

    expect([response.status, response.body.code, response.body.errors?.[0].path]).toEqual([
      status,
      code,
      path,
    ])
  })

  test('does not support HEAD', async () => {
    const response = await service.call('HEAD', '/api/stream')

    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET'])
  })
})
