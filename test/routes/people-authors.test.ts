import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { codeOf, startApp, type TestApp } from '../support/app.ts'
import { person, type SignedIn, signInAs } from '../support/people.ts'

let service: TestApp
/** On two machines. */
let ada: SignedIn
let laptop: SignedIn
let bob: SignedIn
let inbox: { id: string; projectId: string }
beforeAll(async () => {
  service = await startApp()
  const project = await service.given.project()
  inbox = project.inbox
  ada = await person(service, { name: 'Ada', projectIds: [project.id] })
  laptop = await signInAs(service, ada.username)
  bob = await person(service, { name: 'Bob', projectIds: [project.id] })
})
afterAll(() => service.close())

const by = ({ id, name }: SignedIn) => ({ type: 'user', id, name })

describe('what a person does', () => {
  test('is known by the person in tasks, activity, changes, and at other machines', async () => {
    const { nextCursor } = (await service.get('/api/changes')).body
    const task = (await service.post('/api/tasks', { title: 'x', listId: inbox.id }, ada.with)).body
    await service.patch(`/api/tasks/${task.id}`, { priority: 'high' }, laptop.with)
    expect([task.createdBy, task.source]).toEqual([by(ada), 'dashboard'])
    const log = (await service.get(`/api/activity?taskId=${task.id}`)).body.data
    expect(log.map(({ actor }: { actor: object }) => actor)).toEqual([by(ada), by(ada)])
    const found = (await service.get(`/api/activity?actorId=${ada.id}&taskId=${task.id}`)).body.data
    expect(found).toHaveLength(2)
    const changes = (await service.get(`/api/changes?cursor=${nextCursor}`)).body.data
    expect(changes.map(({ actor }: { actor: object }) => actor)).toEqual([by(ada), by(ada)])
  })

  test('is commented by the person, who alone edits it, on every machine', async () => {
    const task = await service.given.task(inbox)
    const path = `/api/tasks/${task.id}/comments`
    const comment = (await service.post(path, { body: 'From the desk' }, ada.with)).body
    expect(comment.author).toEqual(expect.objectContaining(by(ada)))
    const own = `/api/comments/${comment.id}`
    expect(codeOf(await service.patch(own, { body: 'x' }, bob.with))).toEqual([403, 'insufficient_scope'])
    expect(codeOf(await service.delete(own, bob.with))).toEqual([403, 'insufficient_scope'])
    expect((await service.patch(own, { body: 'From the train' }, laptop.with)).status).toBe(200)
    expect((await service.delete(own, laptop.with)).status).toBe(204)
  })

  test('is claimed by the person, who renews and ends it on every machine', async () => {
    const task = await service.given.task(inbox)
    const path = `/api/tasks/${task.id}/claim`
    const { claim } = (await service.post(path, { leaseSeconds: 600 }, ada.with)).body
    expect(claim.by).toEqual(by(ada))
    const renew = ({ with: options }: SignedIn) =>
      service.post(`${path}/renew`, { number: claim.number, leaseSeconds: 900 }, options)
    expect(codeOf(await renew(bob))).toEqual([409, 'claim_lost'])
    expect((await renew(laptop)).status).toBe(200)
    const end = ({ with: options }: SignedIn) => service.delete(`${path}?number=${claim.number}`, options)
    expect(codeOf(await end(bob))).toEqual([409, 'claim_lost'])
    expect((await end(laptop)).status).toBeLessThan(300)
    expect((await service.get(`/api/tasks/${task.id}`)).body.claim).toBeNull()
  })

  test('is filtered by saved filters of the person, on every machine', async () => {
    const filter = { name: 'Crashes', query: { q: 'crash' } }
    const { id } = (await service.post('/api/saved-filters', filter, ada.with)).body
    const path = `/api/saved-filters/${id}`
    expect((await service.patch(path, { name: 'All crashes' }, laptop.with)).status).toBe(200)
    expect((await service.get('/api/saved-filters', ada.with)).body.data).toMatchObject([
      { id, name: 'All crashes' },
    ])
    expect((await service.get('/api/saved-filters', bob.with)).body.data).toEqual([])
    for (const refused of [
      await service.get(path, bob.with),
      await service.patch(path, { name: 'Mine' }, bob.with),
      await service.delete(path, bob.with),
      await service.get(path),
    ]) {
      expect(codeOf(refused)).toEqual([404, 'saved_filter_not_found'])
    }
  })

  test('is done once for an Idempotency-Key, which is not that of another person', async () => {
    const create = ({ with: { headers, ...options } }: SignedIn) =>
      service.post(
        '/api/tasks',
        { title: 'once', listId: inbox.id },
        { ...options, headers: { ...headers, 'idempotency-key': 'the same' } },
      )
    const [first, again, another] = [await create(ada), await create(ada), await create(bob)]
    expect(again.headers.get('idempotency-replayed')).toBe('true')
    expect(again.body.id).toBe(first.body.id)
    expect(another.headers.get('idempotency-replayed')).toBeNull()
    expect([another.status, another.body.createdBy]).toEqual([201, by(bob)])
  })
})
