import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { passTime } from '../../support/database-clock.ts'
import { type Locks, locksOf } from '../../support/locks.ts'
import { type Syncing, startSyncing } from '../../support/syncing.ts'
import { writingBack } from '../../support/writing-back.ts'

let service: Syncing
let locks: Locks
beforeAll(async () => {
  service = await startSyncing({ hasOutboxWorker: false, hasDatabaseClock: true })
  locks = locksOf(service)
})
afterEach(() => {
  service.host.heal()
  service.host.onResponse(() => {})
})
afterAll(() => service.close())

const patch = (id: string, change: object) => service.patch(`/api/tasks/${id}`, change)

/** Sends what is due. */
async function send() {
  while (await service.service.outbox.sendDue(new AbortController().signal));
}

/** Sends what is due, and what is due again later. */
async function write() {
  await send()
  await passTime(service, 60_000)
}

const isWrite = { matches: ({ method }: { method: string }) => method !== 'GET' }

describe('a change at the code host between a write and its lost response', () => {
  test.each([
    ['brought by the next attempt', {}, false],
    ['brought by a poll', {}, true],
    ['of an issue that was reopened before', { stateReason: 'reopened' }, false],
  ])('is kept: a reopening %s', async (_, item, isPolled) => {
    const { id, repository, sync, written } = await writingBack(service, [item])
    service.host.fault('lost', isWrite)
    await patch(id, { status: 'done' })
    await write()
    expect(repository.items.get(1)?.state).toBe('closed')
    repository.reopen(1)
    if (isPolled) await sync()
    await write()
    expect(await service.task(id)).toMatchObject({
      status: 'open',
      closedReason: null,
      writeBack: { state: 'dropped', error: { code: 'changed_at_codehost' } },
    })
    expect(repository.items.get(1)?.state).toBe('open')
    expect(written()).toHaveLength(1)
    const { data } = (await service.get(`/api/activity?taskId=${id}`)).body
    expect(data.map(({ type }: { type: string }) => type).toSorted()).toEqual([
      'task.completed',
      'task.created',
      'task.reopened',
      'task.write_back_dropped',
    ])
  })

  test('is kept: a closing', async () => {
    const { id, repository, written } = await writingBack(service, [{ state: 'closed' }])
    service.host.fault('lost', isWrite)
    await patch(id, { status: 'in_progress' })
    await write()
    expect(repository.items.get(1)?.state).toBe('open')
    repository.close(1, 'not_planned')
    await write()
    expect(await service.task(id)).toMatchObject({ status: 'done', closedReason: 'not_planned' })
    expect(repository.items.get(1)?.state).toBe('closed')
    expect(written()).toHaveLength(1)
  })

  test.each([
    ['completion', { state: 'open' }, 'done', 'closed'],
    ['reopening', { state: 'closed' }, 'open', 'open'],
  ])('does not end a %s that has not arrived, if it is another one', async (_, item, status, state) => {
    const { id, repository } = await writingBack(service, [item])
    service.host.fault('reset', isWrite)
    await patch(id, { status })
    await write()
    repository.change(1, { title: 'Edited' })
    await write()
    expect(repository.items.get(1)?.state).toBe(state)
    expect(await service.task(id)).toMatchObject({ status, writeBack: { state: 'done', error: null } })
  })
})

describe('a change that had read the setting before write-back was turned off', () => {
  test('is not written', async () => {
    const { id, set, repository } = await writingBack(service)
    await service.query(`
      create function wait() returns trigger language plpgsql as
        'begin perform pg_advisory_xact_lock(1); return new; end';
      create trigger wait before insert on codehost_writes for each row execute function wait()`)
    const release = await locks.acquire('select pg_advisory_xact_lock(1)')
    const change = patch(id, { status: 'done' })
    await locks.waiting(1, change)
    expect((await set({ writeBack: 'off' })).status).toBe(200)
    await release()
    expect((await change).body.writeBack).toEqual({ state: 'pending', error: null })
    await service.query('drop function wait cascade')
    const before = service.host.requests.length
    await write()
    expect(service.host.requests).toHaveLength(before)
    expect(repository.items.get(1)?.state).toBe('open')
    expect((await service.task(id)).writeBack).toBeNull()
  })

  test.each(['state', 'off'])(
    'is decided in the transaction that sends it: now it is %s',
    async (writeBack) => {
      const { id, set, written } = await writingBack(service, [{}], { writeBack: 'comments' })
      const body = { body: 'Hello', isPublic: true }
      await service.post(`/api/tasks/${id}/comments`, body)
      await patch(id, { status: 'done' })
      service.host.onResponse(async ({ method, url }) => {
        if (method !== 'GET' || !url.endsWith('/issues/1')) return
        service.host.onResponse(() => {})
        // Without its effect on what is recorded already, as of a change that commits later.
        await service.query(
          `update codehost_connections set write_back = $1
         where id in (select connection_id from codehost_writes where task_id = $2)`,
          [writeBack, id],
        )
      })
      await write()
      expect(written().map(([method]) => method)).toEqual(writeBack === 'state' ? ['PATCH'] : [])
      await set({ writeBack: 'off' })
    },
  )
})

describe('while a write waits', () => {
  async function waiting(item: object = {}) {
    const project = await writingBack(service, [item], { writeBack: 'comments' })
    const { id } = project
    service.host.fault({ status: 503 }, { times: 2 })
    await patch(id, { status: 'done' })
    await service.post(`/api/tasks/${id}/comments`, { body: 'Hello', isPublic: true })
    await write()
    expect((await service.task(id)).writeBack).toMatchObject({
      state: 'pending',
      error: { code: 'codehost_unreachable' },
    })
    service.host.heal()
    return project
  }

  test.each(['deleted', 'transferred'] as const)('its issue is %s: nothing is written', async (gone) => {
    const { id, repository, written } = await waiting()
    repository.remove(1, gone)
    await write()
    expect(await service.task(id)).toMatchObject({
      sourceState: gone,
      writeBack: { state: 'dropped', error: { code: `issue_${gone}` } },
    })
    expect(written()).toEqual([])
    const rows = await service.query('select status from codehost_writes where task_id = $1', [id])
    expect(rows.map(({ status }) => status)).toEqual(['done', 'done'])
  })

  test('its issue is locked: it is closed, and the comment fails', async () => {
    const { id, repository, restrict } = await waiting({ author: 'inlet-bot' })
    restrict({ login: 'inlet-bot', isCollaborator: false })
    repository.change(1, { isLocked: true })
    await write()
    expect(repository.items.get(1)?.state).toBe('closed')
    expect(repository.comments.size).toBe(0)
    expect((await service.task(id)).writeBack).toMatchObject({
      state: 'failed',
      error: { code: 'issue_locked', message: expect.stringMatching(/locked/) },
    })
  })

  test('its token may only read from now on: it fails', async () => {
    const { id, repository, restrict } = await waiting()
    restrict({ canWriteIssues: false })
    await write()
    expect((await service.task(id)).writeBack).toMatchObject({
      state: 'failed',
      error: { code: 'codehost_access_denied' },
    })
    expect([repository.items.get(1)?.state, repository.comments.size]).toEqual(['open', 0])
  })
})

test('a write is not sent if its lease ends before, because the process was suspended', async () => {
  const { id, repository, written } = await writingBack(service, [{}], { writeBack: 'comments' })
  await service.post(`/api/tasks/${id}/comments`, { body: 'Hello', isPublic: true })
  await service.query(`
    create function suspend() returns trigger language plpgsql as
      'begin update test_clock.ahead set by = by + interval ''100 seconds''; return new; end';
    create trigger suspend after update of payload on codehost_writes for each row execute function suspend()`)
  await service.service.outbox.sendDue(new AbortController().signal)
  await service.query('drop function suspend cascade')
  expect(written()).toEqual([])
  await send()
  expect(repository.comments.size).toBe(1)
})

test('an issue of 256 KiB is closed, and its text stays as it is', async () => {
  const body = '😀'.repeat(65_536)
  const { id, repository } = await writingBack(service, [{ body }])
  await patch(id, { status: 'done' })
  await write()
  expect(repository.items.get(1)).toMatchObject({ state: 'closed', body })
  const task = await service.task(id)
  expect([task.writeBack.state, Buffer.byteLength(task.description)]).toEqual(['done', 262_144])
  const { data } = (await service.get(`/api/activity?taskId=${id}`)).body
  expect(data.map(({ type }: { type: string }) => type)).toEqual(['task.completed', 'task.created'])
})
