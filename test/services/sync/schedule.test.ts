import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Syncing, startSyncing } from '../../support/syncing.ts'

let service: Syncing
beforeAll(async () => {
  service = await startSyncing({ tokens: { good: {}, better: {} } })
})
afterAll(() => service.close())

const connectionOf = async (projectId: string) =>
  (await service.get(`/api/projects/${projectId}/codehost`)).body

test('a failure that only a person can fix leaves the schedule as it is', async () => {
  const { project, sync } = await service.connected({ token: 'good', schedule: 'hourly' }, 3)
  const before = (await connectionOf(project.id)).nextRunAt
  service.host.tokens.delete('good')
  expect(await sync()).toMatchObject({ status: 'failed', error: { code: 'codehost_token_rejected' } })
  expect((await connectionOf(project.id)).nextRunAt).toBe(before)
})

test('a run whose token is replaced continues with the new one', async () => {
  service.host.tokens.set('good', {})
  const { project, repository, sync } = await service.connected({ token: 'good' }, 350)
  service.host.onResponse(async ({ url }) => {
    if (!url.endsWith('&page=2')) return
    service.host.onResponse(() => {})
    const renewed = { repository: repository.name, token: 'better', schedule: 'off' }
    await service.put(`/api/projects/${project.id}/codehost`, renewed)
    service.host.tokens.delete('good')
  })
  expect(await sync()).toMatchObject({ status: 'completed', fetched: 350 })
})

describe('the list of a connection', () => {
  test('is the one its tasks were moved to when it is deleted', async () => {
    const { project, repository, sync } = await service.connected({}, 2)
    const [from, to] = await Promise.all(
      ['From', 'To'].map(
        async (name) => (await service.post(`/api/projects/${project.id}/lists`, { name })).body.id,
      ),
    )
    const body = { repository: repository.name, schedule: 'off', listId: from }
    await service.put(`/api/projects/${project.id}/codehost`, body)
    await sync()

    expect((await service.delete(`/api/lists/${from}?moveTo=${to}`)).status).toBe(204)
    expect(await connectionOf(project.id)).toMatchObject({ listId: to })
    repository.issue()
    await sync()
    const tasks = await service.tasksOf(project.id)
    expect(new Set([...tasks.values()].map(({ list_id }) => list_id))).toEqual(new Set([to]))
  })
})

test('a run over an unchanged repository reports the remaining rate limit', async () => {
  const { sync } = await service.connected({}, 2)
  await sync()
  expect(await sync()).toMatchObject({
    status: 'completed',
    fetched: 0,
    rateLimit: { remaining: expect.any(Number), resetAt: expect.any(String) },
  })
})
