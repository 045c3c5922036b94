import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Syncing, startSyncing } from '../support/syncing.ts'
import { attempted, settled, writingBack } from '../support/writing-back.ts'

let service: Syncing
beforeAll(async () => {
  service = await startSyncing({
    tokens: {
      guest: { isCollaborator: false },
    },
  })
})
afterAll(() => service.close())

const writing = (items?: object[], connection?: object) => writingBack(service, items, connection)
const patch = (id: string, change: object) => service.patch(`/api/tasks/${id}`, change)

const pauseWrites = (until: string) =>
  service.query(`update codehost_write_limits set paused_until = ${until}`)

const activityOf = async (id: string, type = '') =>
  (await service.get(`/api/activity?taskId=${id}${type && `&type=${type}`}`)).body.data

describe('a write that cannot be made', () => {
  test('fails visibly at the first refusal, and can be retried', async () => {
    const { id, set, repository, sync, restrict } = await writing()
    restrict({ canWriteIssues: false })
    const { version } = (await patch(id, { status: 'done' })).body
    const failed = await settled(service, id)
    expect(failed).toMatchObject({ version, status: 'done' })
    expect(failed.writeBack).toEqual({
      state: 'failed',
      error: {
        code: 'codehost_access_denied',
        message: expect.stringMatching(/cannot write .*not accessible/),
      },
    })
    expect(await activityOf(id, 'task.write_back_failed')).toEqual([
      expect.objectContaining({
        message: failed.writeBack.error.message,
        actor: expect.objectContaining({ type: 'codehost' }),
      }),
    ])
    // A sync keeps what could not be written.
    await sync('?mode=full')
    expect((await service.task(id)).status).toBe('done')
    restrict({ login: 'inlet-bot' })
    await set({})
    const retried = await service.post(`/api/tasks/${id}/write-back/retry`)
    expect([retried.status, retried.body.writeBack.state]).toEqual([200, 'pending'])
    expect((await settled(service, id)).writeBack).toEqual({ state: 'done', error: null })
    expect(repository.items.get(1)?.state).toBe('closed')
  })

  test('is given up if the code host has changed the issue meanwhile', async () => {
    const { id, ids, repository, sync, written, restrict } = await writing([{ state: 'closed' }, {}])
    restrict({ canWriteIssues: false })
    await patch(id, { status: 'open' })
    expect((await settled(service, id)).writeBack.state).toBe('failed')
    restrict({ login: 'inlet-bot' })
    await sync('?mode=full')
    expect((await service.task(id)).status).toBe('open')
    repository.reopen(1)
    await sync()
    expect((await service.task(id)).writeBack.state).toBe('done')
    await patch(id, { status: 'done' })
    await settled(service, id)
    repository.reopen(1)
    const before = written().length
    // Both changes come before the first is written.
    await pauseWrites("now() + interval '1 hour'")
    await patch(id, { status: 'in_progress' })
    await patch(id, { status: 'done' })
    await pauseWrites('null')
    await patch(ids[1] ?? '', { status: 'done' })
    for (const id of ids) await settled(service, id)
    // The issue was open already when the task was done, as nobody here knew.
    expect(await service.task(id)).toMatchObject({
      status: 'open',
      writeBack: { state: 'dropped', error: { code: 'changed_at_codehost' } },
    })
    expect(await activityOf(id, 'task.write_back_dropped')).toHaveLength(1)
    expect(
      written()
        .slice(before)
        .map(([, url]) => url),
    ).toEqual(['/issues/2'])
  })

  test.each([
    ['deleted', 'issue_deleted'],
    ['transferred', 'issue_transferred'],
  ] as const)('is given up if the issue was %s', async (gone, code) => {
    const { id, repository } = await writing()
    repository.remove(1, gone)
    await patch(id, { status: 'done' })
    expect(await settled(service, id)).toMatchObject({
      sourceState: gone,
      writeBack: { state: 'dropped', error: { code } },
    })
    expect(await activityOf(id, 'task.write_back_dropped')).toHaveLength(1)
  })

  test('is made although the issue is locked', async () => {
    const { id, repository } = await writing([{ isLocked: true }])
    await patch(id, { status: 'done' })
    expect((await settled(service, id)).writeBack).toEqual({ state: 'done', error: null })
    expect(repository.items.get(1)?.state).toBe('closed')
  })

  test('waits while its project is archived', async () => {
    const { id, project, repository } = await writing()
    service.host.fault({ status: 503 }, { times: 100, matches: ({ url }) => url.endsWith('/issues/1') })
    await patch(id, { status: 'done' })
    await attempted(service, id)
    await service.post(`/api/projects/${project.id}/archive`)
    service.host.heal()
    const retry = () => service.post(`/api/tasks/${id}/write-back/retry`)
    expect((await retry()).body.code).toBe('project_archived')
    await service.query('update codehost_writes set next_attempt_at = now() where task_id = $1', [id])
    await service.service.outbox.sendDue(new AbortController().signal)
    expect((await service.task(id)).writeBack.state).toBe('pending')
    await service.post(`/api/projects/${project.id}/unarchive`)
    await settled(service, id)
    expect(repository.items.get(1)?.state).toBe('closed')
  })

  test('of a task without any has nothing to retry', async () => {
    const { id } = await writing()
    const { status, body } = await service.post(`/api/tasks/${id}/write-back/retry`)
    expect([status, body.code]).toEqual([409, 'nothing_to_retry'])
    const unknown = await service.post(`/api/tasks/${service.clock.newId(new Date())}/write-back/retry`)
    expect([unknown.status, unknown.body.code]).toEqual([404, 'task_not_found'])
  })
})
