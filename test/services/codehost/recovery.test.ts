import { Writable } from 'node:stream'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { startCodeHost } from '../../support/code-host.ts'
import { deliver, itemDelivery } from '../../support/code-host-deliveries.ts'
import { type Syncing, startSyncing } from '../../support/syncing.ts'
import { POLLING, settled, writingBack } from '../../support/writing-back.ts'

const lines: Record<string, unknown>[] = []
const logger = pino(
  new Writable({
    write(line, _, done) {
      lines.push(JSON.parse(String(line)))
      done()
    },
  }),
)
const WARN = 40

let service: Syncing
beforeAll(async () => {
  service = await startSyncing({ logger })
})
afterAll(() => service.close())

const logged = (msg: string, projectId: string) =>
  lines.filter((line) => line.msg === msg && line.projectId === projectId)

const lastRunOf = async (path: string) => (await service.get(path)).body.lastRun

describe('after a token has expired', () => {
  test('a new one takes up what failed for its lack, and syncs at once', async () => {
    const { id, project, repository, path, token, set, sync } = await writingBack(service, [{}], {
      schedule: 'hourly',
    })
    service.host.tokens.delete(token)
    expect(await sync()).toMatchObject({ status: 'failed', error: { code: 'codehost_token_rejected' } })
    const failing = (await service.get(path)).body
    // The connection says why it failed, and when it is tried again.
    expect(failing.lastRun.error.message).toContain('expired')
    expect(Date.parse(failing.nextRunAt) - Date.now()).toBeLessThanOrEqual(3_600_000)
    await service.patch(`/api/tasks/${id}`, { status: 'done' })
    expect((await settled(service, id)).writeBack).toMatchObject({
      state: 'failed',
      error: { code: 'codehost_token_rejected' },
    })
    repository.issue({ title: 'Opened meanwhile' })

    service.host.tokens.set('renewed', { login: 'inlet-bot' })
    expect((await set({ token: 'renewed' })).status).toBe(200)
    expect((await settled(service, id)).writeBack).toEqual({ state: 'done', error: null })
    expect(repository.items.get(1)?.state).toBe('closed')
    await vi.waitFor(async () => expect((await lastRunOf(path)).status).toBe('completed'), POLLING)
    expect((await service.tasksOf(project.id)).get(2)).toMatchObject({ title: 'Opened meanwhile' })
  })

  test('a write that the old one was not allowed to make is made with the new one', async () => {
    const { id, repository, restrict, set } = await writingBack(service)
    restrict({ canWriteIssues: false })
    await service.patch(`/api/tasks/${id}`, { status: 'done' })
    expect((await settled(service, id)).writeBack.state).toBe('failed')
    service.host.tokens.set('writer', { login: 'inlet-bot' })
    await set({ token: 'writer' })
    expect((await settled(service, id)).writeBack).toEqual({ state: 'done', error: null })
    expect(repository.items.get(1)?.state).toBe('closed')
  })

  test('other settings that mend a connection sync at once, too, unless the schedule is off', async () => {
    for (const schedule of ['daily', 'off']) {
      const { path, token, restrict, set, sync } = await writingBack(service, [{}], { schedule })
      service.host.tokens.delete(token)
      await sync()
      restrict({ login: 'inlet-bot' })
      const { nextRunAt } = (await set({ comments: true })).body
      if (schedule === 'off') expect(nextRunAt).toBeNull()
      else await vi.waitFor(async () => expect((await lastRunOf(path)).status).toBe('completed'), POLLING)
    }
  })
})

test('failed runs, writes, and deliveries are logged with code and project', async () => {
  const { id, project, path, repository, token, sync } = await writingBack(service)
  const webhook = (await service.post(`${path}/webhook-secret`)).body
  service.host.tokens.delete(token)
  await sync()
  await service.patch(`/api/tasks/${id}`, { status: 'done' })
  await settled(service, id)
  const about = { api: service.host.url, repository: repository.about, action: 'edited' }
  await deliver(webhook, itemDelivery(repository.change(1, { title: 'Same second' }, 0), about))
  await vi.waitFor(
    () =>
      expect(
        ['sync failed', 'write-back failed', 'delivery of the code host failed'].map((msg) =>
          logged(msg, project.id).map(({ level, code }) => [level, code]),
        ),
      ).toEqual(Array(3).fill([[WARN, 'codehost_token_rejected']])),
    POLLING,
  )
})

describe('a code host that left CODEHOST_API_URLS', () => {
  test('is never sent the stored token: not by runs, writes, or deliveries', async () => {
    const { id, project, path, repository, sync } = await writingBack(service)
    const webhook = (await service.post(`${path}/webhook-secret`)).body
    const left = await startCodeHost()
    await service.query('update codehost_connections set api_url = $1 where project_id = $2', [
      left.url,
      project.id,
    ])
    const code = 'codehost_url_not_allowed'
    expect(await sync()).toMatchObject({ status: 'failed', error: { code } })
    await service.patch(`/api/tasks/${id}`, { status: 'done' })
    await vi.waitFor(
      async () => expect((await service.task(id)).writeBack.error).toMatchObject({ code }),
      POLLING,
    )
    const about = { api: service.host.url, repository: repository.about, action: 'edited' }
    await deliver(webhook, itemDelivery(repository.change(1, { title: 'Same second' }, 0), about))
    await vi.waitFor(async () => {
      const [latest] = (await service.get(`/api/deliveries?projectId=${project.id}`)).body.data
      expect(latest).toMatchObject({ outcome: 'failed', reason: code })
    }, POLLING)
    expect(left.requests).toEqual([])
    await left.close()
  })
})

describe('a task whose issue is gone at the code host', () => {
  test.each(['deleted', 'transferred'])('gets comments that are not posted: %s', async (sourceState) => {
    const { id, written } = await writingBack(service, [{}], { writeBack: 'comments' })
    await service.query('update tasks set source_state = $1 where id = $2', [sourceState, id])
    const comment = { body: 'For the team', isPublic: true }
    expect((await service.post(`/api/tasks/${id}/comments`, comment)).status).toBe(201)
    expect((await service.task(id)).writeBack).toBeNull()
    expect(await service.query('select from codehost_writes where task_id = $1', [id])).toEqual([])
    expect(written()).toEqual([])
  })
})

test('a comment on a locked issue says that it is locked', async () => {
  const { id, restrict } = await writingBack(service, [{ isLocked: true }], { writeBack: 'comments' })
  restrict({ isCollaborator: false })
  await service.post(`/api/tasks/${id}/comments`, { body: 'Too late', isPublic: true })
  expect((await settled(service, id)).writeBack).toMatchObject({
    state: 'failed',
    error: { code: 'issue_locked', message: expect.stringMatching(/^The issue is locked/) },
  })
})
