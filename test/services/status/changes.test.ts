import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TestApp } from '../../support/app.ts'
import { passTime } from '../../support/database-clock.ts'
import { sourceOf } from '../../support/sources.ts'
import { changesOf, typesOf, workOnStatus } from '../../support/status.ts'
import { startTwoInstances, type TwoInstances } from '../../support/two-instances.ts'
import { deliverDue, SENDING_ENV, startReceiver, webhookTo } from '../../support/webhooks.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const FAILURE = { code: 'invalid_json', message: 'Invalid JSON at position 1.' }

let instances: TwoInstances
let service: TestApp
let second: TestApp
beforeAll(async () => {
  instances = await startTwoInstances({ hasDatabaseClock: true, env: SENDING_ENV })
  ;({ service, second } = instances)
})
afterAll(() => instances.close())

async function given() {
  const { source } = await sourceOf(service)
  const pipe = { kind: 'source', id: source.id } as const
  return {
    source,
    pipe,
    fail: (at = service) => at.service.pipes.failed(pipe, FAILURE),
    succeed: (at = service) => at.service.pipes.succeeded(pipe),
    types: () => typesOf(service, pipe),
  }
}

const both = (work: (instance: TestApp) => Promise<unknown>) =>
  Promise.all([service, second, service, second].map(work))

describe('changes of pipes', () => {
  test('are logged once by two instances, with what failed, and nothing of its words', async () => {
    const { source, pipe, fail, succeed } = await given()
    fail(service)
    fail(second)
    await both(({ service: { status } }) => status.flush())
    await both(({ service: { status } }) => status.logChanges())
    succeed(second)
    await workOnStatus(second)
    await both(workOnStatus)
    const about = { project_id: source.projectId, actor_type: 'system' }
    const metadata = { kind: 'source', id: source.id, name: 'Forms' }
    expect(await changesOf(service, pipe)).toEqual([
      { type: 'pipe.failed', ...about, metadata: { ...metadata, code: 'invalid_json' } },
      { type: 'pipe.recovered', ...about, metadata },
    ])
  })

  test('are not logged while every attempt succeeds, or every attempt fails', async () => {
    const [good, bad] = [await given(), await given()]
    for (let count = 0; count < 3; count++) {
      good.succeed()
      bad.fail()
      await both(workOnStatus)
    }
    expect([await good.types(), await bad.types()]).toEqual([[], ['pipe.failed']])
  })

  test('are one pair in five minutes of a pipe that fails and recovers every second', async () => {
    const { fail, succeed, types } = await given()
    for (let passed = 0; passed < 8 * MINUTE; passed += 2 * SECOND) {
      fail()
      await workOnStatus(service)
      await passTime(service, SECOND)
      succeed(second)
      await workOnStatus(second)
      await passTime(service, SECOND)
    }
    expect(await types()).toEqual(['pipe.failed', 'pipe.recovered', 'pipe.failed', 'pipe.recovered'])
  })

  test('are logged later of a pipe that fails again at once, if it still does', async () => {
    const { fail, succeed, types } = await given()
    for (const attempt of [fail, succeed, fail]) {
      attempt()
      await workOnStatus(service)
    }
    await passTime(service, 4 * MINUTE)
    await both(workOnStatus)
    expect(await types()).toEqual(['pipe.failed', 'pipe.recovered'])
    await passTime(service, MINUTE)
    await both(workOnStatus)
    expect(await types()).toEqual(['pipe.failed', 'pipe.recovered', 'pipe.failed'])
  })

  test('are logged by another instance if one is killed between storing an attempt and logging it', async () => {
    const { fail, types } = await given()
    fail()
    await service.service.status.flush()
    await second.service.status.logChanges()
    expect(await types()).toEqual(['pipe.failed'])
  })

  test('are logged again if the transaction fails', async () => {
    const { fail, types } = await given()
    fail()
    await service.service.status.flush()
    await service.query('alter table activity add constraint refused check (false) not valid')
    await expect(service.service.status.logChanges()).rejects.toThrow()
    await service.query('alter table activity drop constraint refused')
    await second.service.status.logChanges()
    expect(await types()).toEqual(['pipe.failed'])
  })

  test('of what was deleted or switched off are not logged', async () => {
    const [deleted, off] = [await given(), await given()]
    deleted.fail()
    off.fail()
    await service.service.status.flush()
    await service.delete(`/api/sources/${deleted.source.id}`)
    await service.patch(`/api/sources/${off.source.id}`, { isActive: false })
    await both(workOnStatus)
    expect([await deleted.types(), await off.types()]).toEqual([[], []])
  })

  test('can be read within the project, and are sent to webhooks', async () => {
    const receiver = await startReceiver()
    const { source, fail } = await given()
    const ofProject = { projectId: source.projectId, types: ['pipe.failed'] }
    await webhookTo(service, { url: receiver.url, ...ofProject })
    fail()
    service.service.pipes.failed({ kind: 'feedback', id: 'feedback' }, FAILURE)
    await workOnStatus(service)
    await deliverDue(service)
    expect(receiver.received.map(({ body }) => body)).toMatchObject([
      { type: 'pipe.failed', data: { projectId: source.projectId, metadata: { id: source.id } } },
    ])
    await receiver.close()

    const key = (await service.post('/api/keys', { name: 'x', projectId: source.projectId })).body.key
    const { body } = await service.get('/api/activity?type=pipe.failed', { key })
    expect(body.data).toMatchObject([{ metadata: { kind: 'source', id: source.id } }])
    const all = await service.get('/api/activity?type=pipe.failed&limit=200')
    expect(all.body.data).toContainEqual(
      expect.objectContaining({ projectId: null, metadata: expect.objectContaining({ kind: 'feedback' }) }),
    )
  })

  test('cannot be logged by callers', async () => {
    const { status, body } = await service.post('/api/activity', { type: 'pipe.failed' })
    expect([status, body.code]).toEqual([400, 'validation_failed'])
  })
})
