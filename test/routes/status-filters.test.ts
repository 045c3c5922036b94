import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { codeOf, startApp, type TestApp } from '../support/app.ts'
import { sourceOf } from '../support/sources.ts'
import { workOnStatus } from '../support/status.ts'

let service: TestApp
let projectId: string
beforeAll(async () => {
  service = await startApp({ env: { ENCRYPTION_KEY: 'ab'.repeat(32) } })
  ;({ id: projectId } = await service.given.project())
  const sources = await Promise.all(
    ['c', 'b', 'a', 'd'].map((name) => sourceOf(service, { name, projectId })),
  )
  await sourceOf(service, { name: 'Elsewhere' })
  for (const { send } of sources.slice(0, 3)) await send('{')
  await workOnStatus(service)
})
afterAll(() => service.close())

async function statusOf(query: string, options = {}) {
  const { status, body } = await service.get(`/api/status?${query}`, options)
  expect(status).toBe(200)
  return body
}

const namesIn = ({ data }: { data: { name: string }[] }) => data.map(({ name }) => name)

describe('the status', () => {
  test('has counts of each kind in each state', async () => {
    const { counts } = await statusOf('')
    expect(counts).toHaveLength(3)
    expect(counts).toEqual(
      expect.arrayContaining([
        { kind: 'feedback', state: 'off', count: 1 },
        { kind: 'source', state: 'failing', count: 3 },
        { kind: 'source', state: 'off', count: 2 },
      ]),
    )
  })

  test('has only the first ones by name, and counts all', async () => {
    const limited = await statusOf('perState=2')
    expect(namesIn(limited)).toEqual(['Feedback', 'a', 'b', 'd', 'Elsewhere'])
    const counted = await statusOf('perState=0')
    expect(counted.data).toEqual([])
    const all = (await statusOf('')).counts
    expect([limited.counts, counted.counts]).toEqual([all, all])
  })

  test('has only some kinds', async () => {
    expect(namesIn(await statusOf('kind=feedback&kind=webhook'))).toEqual(['Feedback'])
    expect((await statusOf('kind=webhook')).counts).toEqual([])
  })

  test('has what belongs to a project, and what concerns all', async () => {
    expect(namesIn(await statusOf(`projectId=${projectId}`))).toEqual(['Feedback', 'a', 'b', 'c', 'd'])
    const key = await service.given.key({ scopes: ['tasks:read'] })
    const { data, counts } = await statusOf(`projectId=${projectId}`, { key })
    expect(namesIn({ data })).toEqual(['a', 'b', 'c', 'd'])
    expect(counts.map(({ kind }: { kind: string }) => kind)).toEqual(['source', 'source'])
    const bound = await service.given.key({ projectId: (await service.given.project()).id })
    expect(codeOf(await service.get(`/api/status?projectId=${projectId}`, { key: bound }))).toEqual([
      404,
      'project_not_found',
    ])
  })

  test('has only some states', async () => {
    const failing = await statusOf(`projectId=${projectId}&state=failing`)
    expect(namesIn(failing)).toEqual(['a', 'b', 'c'])
    expect(failing.counts).toEqual([{ kind: 'source', state: 'failing', count: 3 }])
    expect(namesIn(await statusOf(`projectId=${projectId}&state=off&state=ok`))).toEqual(['Feedback', 'd'])
  })

  test('begins with what began to fail last, and lists the others by name', async () => {
    const { id } = await service.given.project()
    const sources = await Promise.all(
      ['b', 'a', 'y', 'z'].map((name) => sourceOf(service, { name, projectId: id })),
    )
    for (const { send } of sources) await send('{')
    const [b, a] = sources
    for (const sent of [b, a]) await sent?.send({ title: 'Valid' })
    await workOnStatus(service)
    const query = `projectId=${id}&kind=source`
    expect(namesIn(await statusOf(query))).toEqual(['z', 'y', 'a', 'b'])
    expect(namesIn(await statusOf(`${query}&perState=1`))).toEqual(['z', 'a'])
  })

  test.each(['kind=none', 'perState=-1', 'perState=101', 'projectId=x', 'state=none'])(
    'refuses %s',
    async (query) => {
      expect(codeOf(await service.get(`/api/status?${query}`))).toEqual([400, 'validation_failed'])
    },
  )
})
