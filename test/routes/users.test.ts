import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { codeOf, type TestApp } from '../support/app.ts'
import { UNKNOWN_ID } from '../support/patterns.ts'
import { person, type SignedIn, signInAs } from '../support/people.ts'
import { listenTo } from '../support/stream.ts'
import { startTwoInstances, type TwoInstances } from '../support/two-instances.ts'

let instances: TwoInstances
let service: TestApp
let second: TestApp
beforeAll(async () => {
  instances = await startTwoInstances()
  ;({ service, second } = instances)
})
afterAll(() => instances.close())

const change = (id: string, body: object, app = service) => app.patch(`/api/users/${id}`, body)
const activities = async (id: string) =>
  service.query("select type, metadata from activity where metadata->>'userId' = $1 order by id", [id])

describe('people', () => {
  test('are listed by role and activity, oldest first, and page by page', async () => {
    const [ada, bob] = [await person(service, { role: 'viewer' }), await person(service, { role: 'viewer' })]
    await change(bob.id, { isActive: false })
    const ids = async (query: string) =>
      (await service.get(`/api/users?role=viewer&${query}`)).body.data.map(({ id }: { id: string }) => id)
    expect(await ids('isActive=true')).toEqual([ada.id])
    expect(await ids('isActive=false')).toEqual([bob.id])
    const first = (await service.get('/api/users?role=viewer&limit=1')).body
    expect(first.data.map(({ id }: SignedIn) => id)).toEqual([ada.id])
    expect(await ids(`cursor=${first.nextCursor}`)).toEqual([bob.id])
    expect((await service.get(`/api/users/${ada.id.toUpperCase()}`)).body.username).toBe(ada.username)
    expect(codeOf(await service.get(`/api/users/${UNKNOWN_ID}`))).toEqual([404, 'user_not_found'])
  })

  test('see the active people whose projects they share', async () => {
    const [one, two] = [await service.given.project(), await service.given.project()]
    const ada = await person(service, { projectIds: [one.id] })
    const bob = await person(service, { projectIds: [one.id, two.id] })
    const eve = await person(service, { projectIds: [two.id] })
    const gone = await person(service, { projectIds: [one.id] })
    await change(gone.id, { isActive: false })
    const { data } = (await service.get('/api/people?limit=200', ada.with)).body
    const seen = data.map(({ id }: { id: string }) => id)
    expect(seen).toEqual(expect.arrayContaining([ada.id, bob.id]))
    expect(seen).not.toContain(eve.id)
    expect(seen).not.toContain(gone.id)
    expect(Object.keys(data[0])).toEqual(['id', 'username', 'name'])
  })

  test('change their role and projects from the next request on, on every instance', async () => {
    const [one, two] = [await service.given.project(), await service.given.project()]
    const ada = await person(service, { projectIds: [one.id] })
    expect((await second.get(`/api/projects/${one.id}`, ada.with)).status).toBe(200)
    expect((await change(ada.id, { projectIds: [two.id, two.id], role: 'viewer' })).body).toMatchObject({
      projectIds: [two.id],
      role: 'viewer',
      keysToRotate: [],
    })
    await expect
      .poll(async () => (await second.get(`/api/projects/${one.id}`, ada.with)).status, { timeout: 2_000 })
      .toBe(404)
    expect((await second.get(`/api/projects/${two.id}`, ada.with)).status).toBe(200)
    expect(codeOf(await second.post('/api/tasks', { title: 'x' }, ada.at(second)))).toEqual([
      403,
      'insufficient_scope',
    ])
    expect((await activities(ada.id)).at(-1)).toMatchObject({
      type: 'person.updated',
      metadata: { changes: { role: { from: 'member', to: 'viewer' } } },
    })
  })

  test.each([
    ['an owner of some projects', { role: 'owner', projectIds: [UNKNOWN_ID] }, [400, 'validation_failed']],
    ['no project', { projectIds: [] }, [400, 'validation_failed']],
    ['an unknown project', { projectIds: [UNKNOWN_ID] }, [404, 'project_not_found']],
    ['another username', { username: 'other' }, [400, 'validation_failed']],
    ['nothing', {}, [400, 'validation_failed']],
  ])('are not changed to %s', async (_, body, code) => {
    const { id } = await person(service)
    expect(codeOf(await change(id, body))).toEqual(code)
  })

  test('keep a project from being deleted, and so do their invites', async () => {
    const project = await service.given.project()
    const ada = await person(service, { projectIds: [project.id], name: 'Ada' })
    const invite = await service.post('/api/invites', {
      name: 'Bob',
      role: 'viewer',
      projectIds: [project.id],
    })
    const remove = () => service.delete(`/api/projects/${project.id}`)
    expect((await remove()).body).toMatchObject({
      code: 'project_in_use',
      detail: expect.stringContaining('the person "Ada" and the invite "Bob"'),
    })
    await change(ada.id, { projectIds: null })
    expect((await remove()).body.detail).toContain('the invite "Bob"')
    await service.delete(`/api/invites/${invite.body.id}`)
    expect((await remove()).status).toBe(204)
  })
})

describe('the last active owner', () => {
  test('stays one, and two do not demote each other', async () => {
    await service.query("update users set role = 'member' where role = 'owner'")
    const [ada, bob] = [await person(service, { role: 'owner' }), await person(service, { role: 'owner' })]
    for (let round = 0; round < 5; round++) {
      const demoted = await Promise.all([
        service.patch(`/api/users/${ada.id}`, { role: 'member' }, bob.with),
        second.patch(`/api/users/${bob.id}`, { isActive: false }, ada.at(second)),
      ])
      const owners = await service.query("select id from users where role = 'owner' and is_active")
      expect([demoted.map(({ status }) => status), owners]).toMatchObject([expect.anything(), [{}]])
      expect(demoted.map(({ status }) => status).filter((status) => status === 200)).toHaveLength(1)
      await service.query("update users set role = 'owner', is_active = true where id = any($1)", [
        [ada.id, bob.id],
      ])
      for (const app of [service, second]) app.service.access.forget()
      Object.assign(ada, await signInAs(service, ada.username))
      Object.assign(bob, await signInAs(service, bob.username))
    }
    await change(bob.id, { role: 'viewer' })
    for (const body of [{ role: 'member' }, { isActive: false }]) {
      expect(codeOf(await change(ada.id, body))).toEqual([409, 'last_owner'])
    }
    expect((await change(ada.id, { name: 'Ada' })).body).toMatchObject({ name: 'Ada', role: 'owner' })
  })
})

describe('deactivating a person', () => {
  test('ends sessions, streams and claims at once on the other instance, and names keys to rotate', async () => {
    await person(service, { role: 'owner' })
    const ada = await person(service, { role: 'owner' })
    const made = await service.post('/api/keys', { name: 'of Ada', scopes: ['tasks:read'] }, ada.with)
    expect(made.body.createdBy).toMatchObject({ type: 'user', id: ada.id })
    const task = await service.given.task((await service.given.project()).inbox)
    const claimed = await second.post(`/api/tasks/${task.id}/claim`, { leaseSeconds: 600 }, ada.at(second))
    expect(claimed.body.claim.by).toMatchObject({ type: 'user', id: ada.id })
    const stream = await listenTo(second, { headers: ada.with.headers })

    const { body } = await change(ada.id, { isActive: false })
    expect(body).toMatchObject({
      isActive: false,
      keysToRotate: [{ id: made.body.id, name: 'of Ada' }],
    })
    // The response may have been lost.
    expect((await change(ada.id, { isActive: false })).body.keysToRotate).toEqual(body.keysToRotate)
    await expect.poll(() => stream.isEnded, { timeout: 2_000 }).toBe(true)
    expect(codeOf(await second.get('/api/me', ada.with))).toEqual([401, 'invalid_credentials'])
    expect((await second.get(`/api/tasks/${task.id}`)).body).toMatchObject({ status: 'open', claim: null })
    expect(codeOf((await signInAs(second, ada.username)).response)).toEqual([401, 'invalid_credentials'])
    await change(ada.id, { isActive: true })
    expect(codeOf(await second.get('/api/me', ada.with))).toEqual([401, 'invalid_credentials'])
    expect((await signInAs(second, ada.username)).response.status).toBe(201)
    expect((await activities(ada.id)).map(({ type }) => type)).toEqual(
      expect.arrayContaining(['person.created', 'person.deactivated', 'person.reactivated']),
    )
  })

  test('ends all claims of the person, however many, and no others', async () => {
    const { inbox } = await service.given.project()
    const [ada, bob] = [await person(service), await person(service)]
    await service.query(
      `insert into tasks (id, title, status, priority, source, project_id, list_id, labels, assignees, metadata,
         created_by_type, created_by_name, created_at, updated_at, version, claim_number, claim_expires_at,
         claimed_by_type, claimed_by_id, claimed_by_name)
       select uuidv7(), 'x', 'in_progress', 1, 'api', $1, $2, '{}', '{}', '{}', 'system', 'test', now(), now(), 1, 1,
         now() + make_interval(mins => i), 'user', case when i > 10 then $3::uuid else $4::uuid end, 'test'
       from generate_series(1, 2110) as i`,
      [inbox.projectId, inbox.id, ada.id, bob.id],
    )
    expect((await change(ada.id, { isActive: false })).status).toBe(200)
    const left = await service.query(
      'select claimed_by_id as by, count(*)::integer from tasks where claim_expires_at > now() group by 1',
    )
    expect(left).toEqual([{ by: bob.id, count: 10 }])
  })

  test('who is not an owner any more changes nothing, also if the request has waited', async () => {
    const [ada, bob] = [await person(service, { role: 'owner' }), await person(service, { role: 'owner' })]
    const actor = { type: 'user' as const, id: ada.id, name: ada.name }
    await change(ada.id, { isActive: false })
    for (const id of [ada.id, bob.id]) {
      const change = { role: 'owner' as const, isActive: true }
      await expect(service.service.users.updateAs(actor, { id, change })).rejects.toMatchObject({
        code: 'insufficient_scope',
      })
    }
    expect((await service.get(`/api/users/${ada.id}`)).body.isActive).toBe(false)
  })

  test('a lower role ends an open stream', async () => {
    const ada = await person(service)
    const stream = await listenTo(second, { headers: ada.with.headers })
    await change(ada.id, { role: 'viewer' })
    await expect.poll(() => stream.isEnded, { timeout: 2_000 }).toBe(true)
    expect((await second.get('/api/tasks', ada.with)).status).toBe(200)
  })

  test('another role ends a long poll, without refusing it', async () => {
    const ada = await person(service)
    let isEnded = false
    const poll = second.get('/api/changes?wait=60&type=never', ada.with).finally(() => {
      isEnded = true
    })
    // It may not wait yet when the first change comes.
    const roles = ['viewer', 'member']
    const changeOnce = async () => {
      await change(ada.id, { role: roles[0] })
      roles.reverse()
      return isEnded
    }
    await expect.poll(changeOnce, { timeout: 10_000 }).toBe(true)
    expect(await poll).toMatchObject({ status: 200, body: { data: [], hasMore: false } })
  })
})
