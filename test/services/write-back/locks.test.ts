import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Locks, locksOf } from '../../support/locks.ts'
import { type Syncing, startSyncing } from '../../support/syncing.ts'
import { writingBack } from '../../support/writing-back.ts'

let service: Syncing
let locks: Locks
beforeAll(async () => {
  service = await startSyncing({ hasOutboxWorker: false })
  locks = locksOf(service)
})
afterAll(() => service.close())

test.each(['writing it', 'failing it', 'turning write-back off', 'disconnecting'])(
  '%s waits for a change of the task before it locks what is to be written',
  async (name) => {
    const { id, set, path, restrict } = await writingBack(service)
    await service.patch(`/api/tasks/${id}`, { status: 'done' })
    if (name === 'failing it') restrict({ canWriteIssues: false })
    const change = await service.connect()
    await change.query(`begin; set local lock_timeout = '2s'`)
    await change.query('select from tasks where id = $1 for update', [id])
    const signal = new AbortController().signal
    const work =
      name === 'disconnecting'
        ? service.delete(path)
        : name === 'turning write-back off'
          ? set({ writeBack: 'off' })
          : service.service.outbox.sendDue(signal)
    await locks.waiting(1, work)
    const { rowCount } = await change.query('update codehost_writes set error = null where task_id = $1', [
      id,
    ])
    expect(rowCount).toBe(1)
    await change.query('commit')
    change.release()
    await work
    const { writeBack } = (await service.get(`/api/tasks/${id}`)).body
    const states = { 'writing it': 'done', 'failing it': 'failed' } as Record<string, string>
    expect(writeBack?.state).toBe(states[name])
  },
)

test('a failed attempt, and what its task shows of it, are stored together', async () => {
  const { id, path } = await writingBack(service)
  await service.patch(`/api/tasks/${id}`, { status: 'done' })
  await service.query(`
    create function refuse() returns trigger language plpgsql as 'begin raise exception ''refused''; end';
    create trigger refuse before update of write_back on tasks execute function refuse()`)
  service.host.fault({ status: 502 })
  await expect(service.service.outbox.sendDue(new AbortController().signal)).rejects.toThrow()
  const rows = await service.query('select attempts, error from codehost_writes where task_id = $1', [id])
  expect(rows).toEqual([{ attempts: 0, error: null }])
  await service.query('drop function refuse cascade')
  await service.delete(path)
})
