import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'
import { sourceOf, FORM_TEMPLATE as template } from '../support/sources.ts'

let service: TestApp
beforeAll(async () => {
  service = await startApp({ env: { ENCRYPTION_KEY: 'ab'.repeat(32) } })
})
afterAll(() => service.close())

const MEMBERS = ['description', 'labels', 'externalUrl'] as const
const FULL = { id: 1, title: 'T', text: 'Text', labels: ['web'], url: 'https://forms.example.com/1' }
const KEPT = { description: 'Text', labels: ['web'], externalUrl: FULL.url }
const EMPTY = { description: null, labels: [], externalUrl: null }
const withLabels = { ...template, labels: '{{ item.labels | join: "," }}' }

async function taskAfter(given: object, ...items: object[]) {
  const { send } = await sourceOf(service, { template: withLabels, ...given })
  const responses = []
  for (const item of items) responses.push(await send(item))
  return service.task(responses[0]?.body.taskId)
}

describe('a member that a template renders to nothing', () => {
  test.each(MEMBERS)('is emptied if it is in clears, and the others are kept: %s', async (member) => {
    const task = await taskAfter({ clears: [member] }, FULL, { id: 1, title: 'T' })
    expect(task).toMatchObject({ ...KEPT, [member]: EMPTY[member] })
  })

  test('is kept without clears, also if it is a list of nothing', async () => {
    const labels = '{{ item.labels | join: "," }},'
    const task = await taskAfter({ template: { ...template, labels } }, FULL, { id: 1, title: 'T' })
    expect(task).toMatchObject(KEPT)
  })

  test('is kept if it has no template, or renders to what is not supported', async () => {
    const clears = [...MEMBERS]
    const { description: _, ...others } = withLabels
    const wrong = { ...FULL, url: 'ftp://forms.example.com', text: 'Other' }
    expect(await taskAfter({ clears, template: others }, FULL, wrong)).toMatchObject({
      ...KEPT,
      description: null,
    })
    const { send } = await sourceOf(service, { clears, template: others })
    const { taskId } = (await send(FULL)).body
    await service.patch(`/api/tasks/${taskId}`, { description: 'Ours' })
    await send({ id: 1, title: 'T' })
    expect(await service.task(taskId)).toMatchObject({ ...EMPTY, description: 'Ours' })
  })

  test('is empty in a new task, and in a test', async () => {
    const source = { clears: [...MEMBERS], template: withLabels }
    expect(await taskAfter(source, { id: 1, title: 'T' })).toMatchObject(EMPTY)
    const { body } = await service.post('/api/sources/test', { source, payload: { title: 'T' } })
    expect(body.tasks[0].task).toEqual({ title: 'T', ...EMPTY })
  })
})

describe('clears', () => {
  test('of a source is changed, and returned', async () => {
    const { source, send } = await sourceOf(service, { template: withLabels })
    expect(source.clears).toEqual([])
    const { taskId } = (await send(FULL)).body
    const { body } = await service.patch(`/api/sources/${source.id}`, { clears: ['labels'] })
    expect(body).toMatchObject({ clears: ['labels'], template: withLabels })
    await send({ id: 1, title: 'T' })
    expect(await service.task(taskId)).toMatchObject({ ...KEPT, labels: [] })
  })

  test.each(['title', 'priority', 'externalId', 'status', 'nothing'])(
    'names what can be emptied, and not %s',
    async (member) => {
      const { id: projectId } = await service.given.project()
      const source = { name: 'S', projectId, verify: { scheme: 'bearer' }, template: { title: 'T' } }
      const { status, body } = await service.post('/api/sources', { ...source, clears: [member] })
      expect([status, body.errors[0].path]).toEqual([400, '/clears/0'])
      for (const name of MEMBERS) expect(body.errors[0].message).toContain(name)
    },
  )
})
