import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Syncing, startSyncing } from '../../support/syncing.ts'
import { settled, writingBack } from '../../support/writing-back.ts'

let service: Syncing
beforeAll(async () => {
  service = await startSyncing()
})
afterAll(() => service.close())

const closed = { state: 'closed' as const, stateReason: 'completed', closedAt: Date.now() }

/** A claimed task of an issue. */
async function givenClaimed() {
  const { id, sync, repository } = await writingBack(service)
  expect((await service.post(`/api/tasks/${id}/claim`)).status).toBe(200)
  return {
    id,
    task: async () => (await service.get(`/api/tasks/${id}`)).body,
    /** Changes the issue at the code host, and syncs. */
    change: async (values: object) => {
      repository.change(1, values)
      await sync()
    },
  }
}

test('an issue that is closed at the code host ends the claim of its task', async () => {
  const { id, change, task } = await givenClaimed()
  await change({ title: 'Another title' })
  expect(await task()).toMatchObject({ title: 'Another title', status: 'in_progress', claim: { number: 1 } })
  await change(closed)
  expect(await task()).toMatchObject({ status: 'done', claim: null })
  const [row] = await service.query('select claimed_by_type, claim_expires_at from tasks where id = $1', [id])
  expect(row).toEqual({ claimed_by_type: null, claim_expires_at: null })
  const [{ metadata }] = await service.query(
    "select metadata from activity where task_id = $1 and type = 'task.completed'",
    [id],
  )
  expect(metadata).toMatchObject({ from: 'in_progress', overriddenClaim: { number: 1 } })
  // The next claim is another one.
  await change({ state: 'open' as const, stateReason: null, closedAt: null })
  expect((await service.post(`/api/tasks/${id}/claim`)).body.claim.number).toBe(2)
})

test('a claim that is completed closes the issue', async () => {
  const { id } = await givenClaimed()
  const done = await service.patch(`/api/tasks/${id}`, { status: 'done', claimNumber: 1 })
  expect(done.body).toMatchObject({ status: 'done', claim: null, writeBack: { state: 'pending' } })
  expect(await settled(service, id)).toMatchObject({ closedReason: 'completed', claim: null })
})
