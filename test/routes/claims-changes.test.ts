import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { codeOf, startApp, type TestApp } from '../support/app.ts'
import { claiming } from '../support/claims.ts'

let service: TestApp
let given: ReturnType<typeof claiming>
beforeAll(async () => {
  service = await startApp()
  given = claiming(service)
})
afterAll(() => service.close())

const patch = (id: string, change: object, key = service.adminKey) =>
  service.patch(`/api/tasks/${id}`, change, { key })
const LOST = [409, 'claim_lost']

const rowOf = async (id: string) => {
  const [row] = await service.query(
    'select status, claim_number, claim_expires_at, claimed_by_type, claimed_by_id, claimed_by_name from tasks where id = $1',
    [id],
  )
  return row
}
const UNCLAIMED = {
  claim_number: 1,
  claim_expires_at: null,
  claimed_by_type: null,
  claimed_by_id: null,
  claimed_by_name: null,
}

describe('a change that names the claim', () => {
  test('is made while the lease lasts, and keeps the claim', async () => {
    const { claimed, key } = await given.project()
    const { id, claim } = await claimed()
    const changed = await patch(id, { notes: 'Found it.', claimNumber: 1 }, key)
    expect(changed.body).toMatchObject({ notes: 'Found it.', claim, version: 3 })
    expect((await given.activityOf(id)).at(-1)?.metadata).toEqual({ changes: { notes: 'changed' } })
  })

  test('is refused with a number from the past or the future', async () => {
    const { claimed, claim, key } = await given.project()
    const { id } = await claimed()
    await service.delete(`/api/tasks/${id}/claim?number=1`, { key })
    expect(codeOf(await patch(id, { notes: 'x', claimNumber: 1 }, key))).toEqual(LOST)
    await claim(id)
    for (const claimNumber of [1, 3]) {
      // Even if it would change nothing.
      for (const change of [{ notes: 'x' }, { status: 'in_progress' }])
        expect(codeOf(await patch(id, { ...change, claimNumber }, key))).toEqual(LOST)
    }
    expect(codeOf(await patch(id, { notes: 'x', claimNumber: 0 }, key))).toEqual([400, 'validation_failed'])
    expect(await service.task(id)).toMatchObject({ notes: null, version: 4 })
  })

  test('is refused once the lease is over, before and after the job has opened the task', async () => {
    const { claimed, key } = await given.project()
    const { id } = await claimed()
    await given.expire(id)
    for (const change of [{ notes: 'x' }, { status: 'in_progress' }, { status: 'done' }])
      expect(codeOf(await patch(id, { ...change, claimNumber: 1 }, key))).toEqual(LOST)
    await service.service.claims.openExpired()
    expect(codeOf(await patch(id, { notes: 'x', claimNumber: 1 }, key))).toEqual(LOST)
    expect(await service.task(id)).toMatchObject({ notes: null, status: 'open' })
  })

  test('is refused if the lease ends between the decision and the write', async () => {
    const { claimed, key } = await given.project()
    const { id } = await claimed()
    const holder = await service.connect()
    await holder.query(`begin; select from tasks where id = '${id}' for update`)
    const change = patch(id, { notes: 'too late', claimNumber: 1 }, key)
    await expect
      .poll(
        async () =>
          (await service.query("select from pg_stat_activity where wait_event_type = 'Lock'")).length,
      )
      .toBeGreaterThan(0)
    await holder.query(
      `update tasks set claim_expires_at = clock_timestamp() - interval '1 second' where id = '${id}'`,
    )
    await holder.query('commit')
    holder.release()
    expect(codeOf(await change)).toEqual(LOST)
    expect(await service.task(id)).toMatchObject({ notes: null })
  })

  test('that completes the task can be repeated', async () => {
    const { claimed, key } = await given.project()
    const { id } = await claimed()
    const done = await patch(id, { status: 'done', claimNumber: 1 }, key)
    expect(done.body).toMatchObject({ status: 'done', claim: null, version: 3 })
    const again = await patch(id, { status: 'done', claimNumber: 1 }, key)
    expect([again.status, again.body]).toEqual([200, done.body])
    expect(codeOf(await patch(id, { status: 'open', claimNumber: 1 }, key))).toEqual(LOST)
    expect(codeOf(await patch(id, { notes: 'more', claimNumber: 1 }, key))).toEqual(LOST)
    expect(await rowOf(id)).toEqual({ ...UNCLAIMED, status: 'done' })
  })

  test('is made together with others at the same time', async () => {
    const { claimed, key } = await given.project()
    const { id } = await claimed()
    const changes = [{ notes: 'a' }, { title: 'B' }, { labels: ['c'] }, { priority: 'high' }]
    const responses = await Promise.all(
      changes.map((change) => patch(id, { ...change, claimNumber: 1 }, key)),
    )
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    expect(await service.task(id)).toMatchObject({
      ...Object.assign({}, ...changes),
      claim: { number: 1 },
      version: 6,
    })
  })
})

describe('a change that names no claim', () => {
  test('is made, and the activity says whose claim it overrode', async () => {
    const { claimed } = await given.project()
    const { id, claim } = await claimed()
    const changed = await patch(id, { title: 'Another' })
    expect(changed.body).toMatchObject({ title: 'Another', claim })
    expect((await given.activityOf(id)).at(-1)?.metadata).toEqual({
      changes: { title: { from: 'A task', to: 'Another' } },
      overriddenClaim: { number: 1, by: claim.by },
    })
  })

  test('overrides nothing if it is made with the key of the claim', async () => {
    const { claimed, key } = await given.project()
    const { id } = await claimed()
    await patch(id, { title: 'Another' }, key)
    expect((await given.activityOf(id)).at(-1)?.metadata).not.toHaveProperty('overriddenClaim')
    // A person who signed in with that key is somebody else.
    const session = await service.post('/api/sessions', { key }, { key: null })
    const cookie = session.headers.get('set-cookie')?.split(';')[0] ?? ''
    const headers = { cookie, origin: service.url }
    await service.patch(`/api/tasks/${id}`, { title: 'By hand' }, { key: null, headers })
    expect((await given.activityOf(id)).at(-1)?.metadata).toHaveProperty('overriddenClaim.number', 1)
  })

  test('overrides nothing once the lease is over', async () => {
    const { claimed } = await given.project()
    const { id } = await claimed()
    await given.expire(id)
    const started = await patch(id, { status: 'in_progress' })
    expect(started.body).toMatchObject({ status: 'in_progress', claim: null, version: 3 })
    expect((await given.activityOf(id)).at(-1)?.metadata).toEqual({
      changes: { status: { from: 'open', to: 'in_progress' } },
    })
    // It is not the task of the claim any more, which the job would open.
    await service.service.claims.openExpired()
    expect(await rowOf(id)).toEqual({ ...UNCLAIMED, status: 'in_progress' })
  })

  test.each(['open', 'done'])('with the status %s ends the claim', async (status) => {
    const { claimed, key } = await given.project()
    const { id } = await claimed()
    expect((await patch(id, { status })).body).toMatchObject({ status, claim: null })
    expect(await rowOf(id)).toEqual({ ...UNCLAIMED, status })
    expect((await given.activityOf(id)).at(-1)?.metadata).toHaveProperty('overriddenClaim.number', 1)
    expect(codeOf(await patch(id, { notes: 'x', claimNumber: 1 }, key))).toEqual(LOST)
  })

  test('of an assistant is refused while the task is claimed', async () => {
    const { claimed, key } = await given.project()
    const { id } = await claimed()
    const caller = { ...(await service.service.access.callerByKey(key)), channel: 'assistant' as const }
    const update = (claimNumber?: number) =>
      service.service.tasks.update(caller, { id, change: { notes: 'x' }, claimNumber })
    await expect(update()).rejects.toMatchObject({ code: 'task_claimed', extras: { claim: { number: 1 } } })
    await expect(update(2)).rejects.toMatchObject({ code: 'claim_lost' })
    expect(await update(1)).toMatchObject({ notes: 'x' })
    await given.expire(id)
    const change = { notes: 'y' }
    expect(await service.service.tasks.update(caller, { id, change })).toMatchObject({ notes: 'y' })
  })
})

describe('the claim ends', () => {
  test('when the task is completed in bulk', async () => {
    const { claimed, task } = await given.project()
    const [{ id }, free] = [await claimed(), await task()]
    const changed = await service.patch('/api/tasks/bulk', { ids: [id, free.id], change: { status: 'done' } })
    expect(changed.body.data).toMatchObject([
      { id, status: 'done', claim: null },
      { id: free.id, status: 'done', claim: null },
    ])
    expect(await rowOf(id)).toEqual({ ...UNCLAIMED, status: 'done' })
    expect((await given.activityOf(id)).at(-1)?.metadata).toHaveProperty('overriddenClaim.number', 1)
  })

  test('when the task is merged, which then was open before', async () => {
    const { claimed, task } = await given.project()
    const [{ id }, into] = [await claimed(), await task()]
    const merged = await service.post(`/api/tasks/${id}/merge`, { into: into.id })
    expect(merged.body).toMatchObject({ status: 'done', claim: null })
    expect(await rowOf(id)).toEqual({ ...UNCLAIMED, status: 'done' })
    expect((await given.activityOf(id)).at(-1)).toMatchObject({
      type: 'task.merged',
      metadata: { from: 'open', overriddenClaim: { number: 1 } },
    })
    const unmerged = await service.post(`/api/tasks/${id}/unmerge`)
    expect(unmerged.body).toMatchObject({ status: 'open', claim: null })
  })

  test('when the task is deleted, which is open when it is restored', async () => {
    const { claimed, claim } = await given.project()
    const { id } = await claimed()
    await service.delete(`/api/tasks/${id}`)
    expect(await rowOf(id)).toEqual({ ...UNCLAIMED, status: 'open' })
    expect((await given.activityOf(id)).at(-1)).toMatchObject({
      type: 'task.deleted',
      metadata: { overriddenClaim: { number: 1 } },
    })
    const restored = await service.post(`/api/tasks/${id}/restore`)
    expect(restored.body).toMatchObject({ status: 'open', claim: null })
    expect((await claim(id)).body.claim.number).toBe(2)
  })

  test('when an existing task is reopened by a create, but not when it is only updated', async () => {
    const { inbox, key, claim } = await given.project()
    const create = (values: object, query = 'onExisting=update') =>
      service.post(`/api/tasks?${query}`, { listId: inbox.id, externalId: 'x-1', ...values }, { key })
    const { id } = (await create({ title: 'A task' })).body
    await claim(id)
    expect((await create({ title: 'Another' })).body).toMatchObject({
      title: 'Another',
      claim: { number: 1 },
    })
    await patch(id, { status: 'done' })
    expect((await create({ title: 'Another' }, 'onExisting=update&reopen=true')).body).toMatchObject({
      status: 'open',
      claim: null,
    })
  })

  test('but not when the task moves', async () => {
    const { id: projectId, claimed } = await given.project()
    const list = await service.given.list(projectId)
    const { id, claim } = await claimed()
    expect((await patch(id, { listId: list.id })).body).toMatchObject({ listId: list.id, claim })
  })
})
