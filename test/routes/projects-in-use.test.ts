import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TestApp } from '../support/app.ts'
import { type Locks, locksOf } from '../support/locks.ts'
import { startTwoInstances, type TwoInstances } from '../support/two-instances.ts'
import { SENDING_ENV } from '../support/webhooks.ts'

let instances: TwoInstances
let service: TestApp
let second: TestApp
let locks: Locks
beforeAll(async () => {
  instances = await startTwoInstances({ env: SENDING_ENV })
  ;({ service, second } = instances)
  locks = locksOf(service)
})
afterAll(() => instances.close())

const remove = (id: string, app = service) => app.delete(`/api/projects/${id}`)
const route = (targetProjectId: string, app = service) =>
  app.post('/api/webhook-routing', { appMatch: `app-${targetProjectId}`, targetProjectId })

describe('deleting a project that something else uses', () => {
  test.each<[string, (projectId: string) => Promise<string>]>([
    [
      'the source "Forms"',
      async (projectId) => {
        const template = { title: '{{ payload.title }}' }
        const { body } = await service.post('/api/sources', {
          ...{ name: 'Forms', projectId, verify: { scheme: 'bearer' }, template },
        })
        return `/api/sources/${body.id}`
      },
    ],
    [
      'the webhook "Chat"',
      async (projectId) => {
        const url = 'http://127.0.0.1:9/hook'
        const { body } = await service.post('/api/webhooks', { name: 'Chat', url, projectId })
        return `/api/webhooks/${body.id}`
      },
    ],
    [
      'the connection "acme/app"',
      async (projectId) => {
        await service.query(
          `insert into codehost_connections (id, project_id, repository, repository_id, api_url, schedule, next_full_at,
             connected_at, updated_at)
           values (gen_random_uuid(), $1, 'acme/app', 1, 'http://127.0.0.1:9', 'off', now(), now(), now())`,
          [projectId],
        )
        return `/api/projects/${projectId}/codehost`
      },
    ],
  ])('is rejected, and names them: %s', async (user, make) => {
    const project = await service.given.project()
    const path = await make(project.id)
    const refused = await remove(project.id)
    expect(refused).toMatchObject({ status: 409, body: { code: 'project_in_use' } })
    expect(refused.body.detail).toContain(`in use by ${user}.`)
    expect((await service.delete(path)).status).toBe(204)
    expect((await remove(project.id)).status).toBe(204)
  })
})

test('a project in use by several names up to three of each kind', async () => {
  const project = await service.given.project()
  for (const name of ['One', 'Two', 'Three', 'Four']) {
    const rule = { name, appMatch: `${name}-${project.id}`, targetProjectId: project.id }
    expect((await service.post('/api/webhook-routing', rule)).status).toBe(201)
  }
  await service.given.key({ projectId: project.id })
  await service.post('/api/rules', { content: 'Be brief.', projectId: project.id })
  const { body } = await remove(project.id)
  expect(body.detail).toMatch(
    /in use by a rule, the key "[^"]+", (the routing rule "\w+", ){2}and the routing rule "\w+"\./,
  )
})

describe('deleting a project that a routing rule targets', () => {
  test.each([
    ['active', true],
    ['inactive', false],
  ])('is rejected while the rule exists, also an %s one', async (_, isActive) => {
    const project = await service.given.project()
    const { body: rule } = await route(project.id)
    await service.patch(`/api/webhook-routing/${rule.id}`, { isActive })
    const refused = await remove(project.id)
    expect(refused).toMatchObject({ status: 409, body: { code: 'project_in_use' } })
    expect(refused.body.detail).toContain('in use by a routing rule.')
    expect((await service.get(`/api/projects/${project.id}`)).status).toBe(200)

    await service.delete(`/api/webhook-routing/${rule.id}`)
    expect((await remove(project.id)).status).toBe(204)
  })

  test('is rejected once a rule targets it, and works once the rule targets another', async () => {
    const [one, other] = [await service.given.project(), await service.given.project()]
    const { body: rule } = await route(one.id)
    await service.patch(`/api/webhook-routing/${rule.id}`, { targetProjectId: other.id })
    expect((await remove(other.id)).body.code).toBe('project_in_use')
    expect((await remove(one.id)).status).toBe(204)
  })

  test('waits for a rule that is being created, and is then rejected', async () => {
    const project = await service.given.project()
    const release = await locks.acquire('lock table activity in exclusive mode')
    const made = route(project.id)
    await locks.waiting(1, made)
    const removed = remove(project.id)
    await locks.waiting(2, removed)
    await release()
    expect([(await made).status, (await removed).body.code]).toEqual([201, 'project_in_use'])
  })

  test('and creating or changing one at the same time leave no rule without a project', async () => {
    for (let round = 0; round < 10; round++) {
      const [project, elsewhere] = [await service.given.project(), await service.given.project()]
      const { body: rule } = await route(elsewhere.id)
      const [removed, made, changed] = await Promise.all([
        remove(project.id, second),
        route(project.id),
        service.patch(`/api/webhook-routing/${rule.id}`, { targetProjectId: project.id }),
      ])
      const written = [made.status === 201, changed.status === 200]
      expect(removed.status === 204 ? written : removed.body.code).toEqual(
        removed.status === 204 ? [false, false] : 'project_in_use',
      )
    }
    const lost = await service.query(
      'select id from webhook_routing where target_project_id not in (select id from projects)',
    )
    expect(lost).toEqual([])
  })
})
