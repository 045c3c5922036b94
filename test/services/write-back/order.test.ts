import { afterAll, beforeAll, expect, test } from 'vitest'
import { passTime } from '../../support/database-clock.ts'
import { type Syncing, startSyncing } from '../../support/syncing.ts'
import { writingBack } from '../../support/writing-back.ts'

let service: Syncing
beforeAll(async () => {
  service = await startSyncing({ hasOutboxWorker: false, hasDatabaseClock: true })
})
afterAll(() => service.close())

async function send() {
  while (await service.service.outbox.sendDue(new AbortController().signal));
}

test('the comments of a task are posted in their order, also if the first has to wait', async () => {
  const { ids, repository } = await writingBack(service, [{}, {}], { writeBack: 'comments' })
  const post = (id: string | undefined, body: string) =>
    service.post(`/api/tasks/${id}/comments`, { body, isPublic: true })
  const isRead = ({ method, url }: { method: string; url: string }) =>
    method === 'GET' && url.endsWith(`/${repository.id}/issues/1`)
  service.host.fault({ status: 503 }, { matches: isRead })
  for (const [id, body] of [
    [ids[0], 'First'],
    [ids[0], 'Second'],
    [ids[1], 'Of another'],
  ])
    await post(id, body ?? '')
  const posted = () => [...repository.comments.values()].map(({ body }) => String(body).split('\n').at(-1))
  // A code host that does not respond ends the round.
  await send()
  await send()
  expect(posted()).toEqual(['Of another'])
  await passTime(service, 46_000)
  await send()
  expect(posted()).toEqual(['Of another', 'First', 'Second'])
})

test('the next of ten thousand is found at once', async () => {
  const { ids, project, path } = await writingBack(service, [{}, {}], { writeBack: 'comments' })
  const { id: connectionId } = (await service.get(path)).body
  const { codehostWrites } = service.repos.within({ projectIds: [project.id] })
  const claim = async () => {
    const since = performance.now()
    const write = await codehostWrites.claim({ connectionIds: [connectionId], leaseMs: 60_000 })
    // Comparing each with the others took half a minute.
    expect(performance.now() - since).toBeLessThan(3_000)
    return write && { taskId: write.taskId, nth: Number(write.payload.externalId) }
  }
  await service.query(
    `insert into codehost_writes
       (id, connection_id, task_id, kind, comment_id, payload, status, attempts, next_attempt_at, created_at)
     select gen_random_uuid(), $1, case when nth = 10000 then $3::uuid else $2::uuid end, 'comment_created',
       gen_random_uuid(), jsonb_build_object('externalId', nth::text), 'pending', 0, now(),
       now() + nth * interval '1 millisecond'
     from generate_series(10000, 1, -1) as nth`,
    [connectionId, ...ids],
  )
  expect(await claim()).toEqual({ taskId: ids[0], nth: 1 })
  expect(await claim()).toEqual({ taskId: ids[1], nth: 10_000 })
  expect(await claim()).toBeUndefined()
})
