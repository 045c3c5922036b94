import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { payloadReader } from '../../src/services/sources/reader.ts'
import { sourceReplay } from '../../src/services/sources/replay.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { deliveriesOf } from '../support/deliveries.ts'
import { sourceOf } from '../support/sources.ts'

let service: TestApp
beforeAll(async () => {
  service = await startApp({ env: { ENCRYPTION_KEY: 'ab'.repeat(32) } })
})
afterAll(() => service.close())

const eventsOf = (id: string, query = '') => deliveriesOf(service, `sourceId=${id}${query}`)
const replay = (id: string) => service.post(`/api/deliveries/${id}/replay`)
const countTasks = async (sourceId: string) =>
  (await service.query('select id from tasks where source_id = $1', [sourceId])).length

/** As if all its deliveries had arrived eleven seconds earlier. */
async function makeOlder(sourceId: string) {
  for (const table of ['deliveries', 'source_items']) {
    await service.query(
      `update ${table} set received_at = received_at - interval '11 seconds' where source_id = $1`,
      [sourceId],
    )
  }
}

describe('a replay', () => {
  test('makes the task of a rejected delivery once its template is fixed, and never a second one', async () => {
    const { source, send } = await sourceOf(service, { template: { title: '{{ payload.subject }}' } })
    await send({ title: 'Fixed' }, { id: 'msg_r' })
    const [{ id }] = await eventsOf(source.id)
    expect((await replay(id)).body).toMatchObject({ outcome: 'rejected' })
    await service.patch(`/api/sources/${source.id}`, { template: { title: '{{ payload.title }}' } })
    const { status, body } = await replay(id)
    expect([status, body]).toMatchObject([
      200,
      { outcome: 'accepted', errors: null, tasks: [{ created: true }] },
    ])
    expect((await service.get(`/api/tasks/${body.tasks[0].taskId}`)).body.title).toBe('Fixed')
    const again = await Promise.all([replay(id), replay(id)])
    expect(again.map(({ body }) => body.tasks)).toEqual([body.tasks, body.tasks])
    const repeat = await send({ title: 'Fixed' }, { id: 'msg_r' })
    expect(repeat.body).toMatchObject({ duplicate: true, taskId: body.tasks[0].taskId })
    expect(await countTasks(source.id)).toBe(1)
  })

  test('of a delivery that was sent again since takes over its task', async () => {
    const { source, send } = await sourceOf(service, { template: { title: '{{ payload.subject }}' } })
    await send({ title: 'A' }, { id: 'msg_again' })
    await service.patch(`/api/sources/${source.id}`, { template: { title: '{{ payload.title }}' } })
    const { taskId } = (await send({ title: 'A' }, { id: 'msg_again' })).body
    const [, first] = await eventsOf(source.id)
    expect((await replay(first.id)).body).toMatchObject({
      outcome: 'accepted',
      tasks: [{ taskId }],
    })
    expect(await countTasks(source.id)).toBe(1)
  })

  test('of a body without an ID is recognized when the body is sent again, for ten seconds', async () => {
    const verify = { scheme: 'bearer' } as const
    const { source, send } = await sourceOf(service, { verify, template: { title: '{{ payload.subject }}' } })
    // Spaces that the inbox does not keep.
    const body = '{ "title": "Deployed",  "id": 90071992547409931 }'
    await send(body)
    const [{ id }] = await eventsOf(source.id)
    await service.patch(`/api/sources/${source.id}`, { template: { title: '{{ payload.title }}' } })
    const { tasks } = (await replay(id)).body
    const again = await send(body)
    expect([again.status, again.body.duplicate, again.body.tasks]).toEqual([200, true, tasks])
    await makeOlder(source.id)
    expect((await send(body)).status).toBe(201)
    expect(await countTasks(source.id)).toBe(2)
  })

  test.each<[string, boolean]>([
    ['later', true],
    ['earlier', false],
  ])('of a body is an event of its own, if the same was accepted eleven seconds %s', async (_, isLater) => {
    const verify = { scheme: 'bearer' } as const
    const wrong = { title: '{{ payload.subject }}' }
    const { source, send } = await sourceOf(service, { verify, template: wrong })
    const template = async (title: string) =>
      service.patch(`/api/sources/${source.id}`, { template: { title } })
    const accept = async () => {
      await template('{{ payload.title }}')
      return (await send({ title: 'Deployed' })).body
    }
    const reject = async () => {
      await template(wrong.title)
      await send({ title: 'Deployed' })
    }
    await (isLater ? reject() : accept())
    await makeOlder(source.id)
    await (isLater ? accept() : reject())
    await template('{{ payload.title }}')
    const events = await eventsOf(source.id)
    const { id } = events.find(({ outcome }: { outcome: string }) => outcome === 'rejected')
    const { tasks } = (await replay(id)).body
    expect([tasks.length, await countTasks(source.id)]).toEqual([1, 2])
    // Sent once more now, it is the later one of the two.
    const known = await eventsOf(source.id)
    const repeat = await send({ title: 'Deployed' })
    expect([repeat.status, repeat.body.tasks]).toEqual([200, known[0].tasks])
  })

  test('of a delivery with a long ID is recognized when it is sent again', async () => {
    const { source, send } = await sourceOf(service, { template: { title: '{{ payload.subject }}' } })
    const ids = ['1', '2'].map((end) => `${'x'.repeat(300)}${end}`)
    for (const id of ids) await send({ title: id }, { id })
    await service.patch(`/api/sources/${source.id}`, { template: { title: '{{ payload.title }}' } })
    const events = await eventsOf(source.id)
    for (const event of events) {
      expect((await replay(event.id)).body.tasks).toMatchObject([{ created: true }])
    }
    for (const id of ids) expect((await send({ title: id }, { id })).body.duplicate).toBe(true)
    expect(await countTasks(source.id)).toBe(2)
  })

  test('whose event others keep changing is refused for the moment', async () => {
    const { source, send } = await sourceOf(service, { template: { title: '{{ payload.subject }}' } })
    await send({ title: 'A' })
    const [{ id: deliveryId }] = await eventsOf(source.id)
    const { repos, clock } = service
    const { read, close } = payloadReader()
    const replayed = sourceReplay({
      repos,
      clock,
      reader: {
        async read(...input) {
          await service.query(
            `update deliveries set outcome = case outcome when 'rejected' then 'filtered' else 'rejected' end
             where id = $1`,
            [deliveryId],
          )
          return read(...input)
        },
      },
    })
    const caller = await service.service.access.callerByKey(service.adminKey)
    await expect(replayed(caller, { id: deliveryId })).rejects.toMatchObject({
      code: 'unavailable',
    })
    await close()
  })

  test('updates the tasks of an accepted delivery with the templates as they are now', async () => {
    const { source, send } = await sourceOf(service)
    const { taskId, deliveryId } = (await send({ title: 'A', severity: 'page' })).body
    const template = {
      title: '{{ payload.title }}!',
      priority: '{% if payload.severity == "page" %}high{% endif %}',
    }
    await service.patch(`/api/sources/${source.id}`, { template })
    expect((await replay(deliveryId)).body.tasks).toEqual([{ taskId, created: true }])
    expect((await service.get(`/api/tasks/${taskId}`)).body).toMatchObject({ title: 'A!', priority: 'high' })
    await service.patch(`/api/sources/${source.id}`, { filter: 'false' })
    expect((await replay(deliveryId)).body).toMatchObject({
      outcome: 'accepted',
      tasks: [{ taskId }],
    })
    await service.delete(`/api/tasks/${taskId}`)
    await service.patch(`/api/sources/${source.id}`, { filter: null })
    expect((await replay(deliveryId)).body.tasks).toEqual([{ taskId, created: true }])
    expect(await countTasks(source.id)).toBe(1)
  })

  test('changes the task of each item, whichever items the filter lets through by now', async () => {
    const { source, send } = await sourceOf(service, {
      each: 'payload.items',
      filter: 'item.ok',
      template: { title: '{{ item.name }}' },
    })
    const items = [{ name: 'A', ok: true }, { name: 'B' }, { name: 'C', ok: true }]
    const { deliveryId, tasks } = (await send({ items })).body
    const [a, c] = tasks.map(({ taskId }: { taskId: string }) => taskId)
    const titles = async (all: { taskId: string }[]) =>
      Promise.all(all.map(async ({ taskId }) => (await service.get(`/api/tasks/${taskId}`)).body.title))

    await service.patch(`/api/sources/${source.id}`, { filter: null })
    const all = (await replay(deliveryId)).body.tasks
    expect(await titles(all)).toEqual(['A', 'B', 'C'])
    expect([all[0].taskId, all[2].taskId]).toEqual([a, c])

    await service.patch(`/api/sources/${source.id}`, {
      filter: 'item.name != "A"',
      template: { title: '{{ item.name }}!' },
    })
    expect((await replay(deliveryId)).body.tasks).toEqual(all)
    expect(await titles(all)).toEqual(['A', 'B!', 'C!'])
    expect(await countTasks(source.id)).toBe(3)
  })

  test('of items with long texts changes only those whose text has changed', async () => {
    const { send } = await sourceOf(service, {
      each: 'payload.items',
      template: {
        title: '{{ item.name }}',
        description: '{% for i in (1..60) %}{{ payload.text }}{% endfor %}{{ item.name }}',
      },
    })
    const names = ['A', 'B', 'C', 'D', 'E', 'F', 'G', 'H']
    const items = names.map((name) => ({ name }))
    const { deliveryId, tasks } = (await send({ items, text: 'ü'.repeat(1_000) })).body
    const changed = tasks[6].taskId
    await service.query(`update tasks set description = 'Other' where id = $1`, [changed])
    expect((await replay(deliveryId)).body.tasks).toEqual(tasks)
    for (const { taskId } of tasks) {
      const { body } = await service.get(`/api/tasks/${taskId}`)
      expect([body.title, body.version]).toEqual([body.title, taskId === changed ? 2 : 1])
      expect(body.description).toBe('ü'.repeat(60_000) + body.title)
    }
  })

  test('of a cut payload, and in an archived project, is refused', async () => {
    const { source, send } = await sourceOf(service)
    const { deliveryId } = (await send({ title: 'A', text: 'x'.repeat(300_000) })).body
    const cut = await replay(deliveryId)
    expect([cut.status, cut.body.code]).toEqual([409, 'delivery_not_replayable'])
    await service.post(`/api/projects/${source.projectId}/archive`)
    await send({ title: 'B' })
    const [event] = await eventsOf(source.id)
    const archived = await replay(event.id)
    expect([archived.status, archived.body.code]).toEqual([409, 'project_archived'])
    await service.post(`/api/projects/${source.projectId}/unarchive`)
    expect((await replay(event.id)).body.outcome).toBe('accepted')
  })
})
