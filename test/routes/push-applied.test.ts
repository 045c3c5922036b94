import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { itemDelivery, recordedDeliveries } from '../support/code-host-deliveries.ts'
import { repositoryJson } from '../support/code-host-items.ts'
import { pushedTo } from '../support/pushed.ts'
import { type Syncing, startSyncing } from '../support/syncing.ts'

let service: Syncing
beforeAll(async () => {
  service = await startSyncing()
})
afterAll(() => service.close())

const pushed = (id?: number) => pushedTo(service, id)

describe('a delivery', () => {
  test('creates, changes, closes and reopens the task without a sync or a request', async () => {
    const { repository, report, send, applied, asked, tasks, project } = await pushed()
    await send(report(repository.issue({ title: 'First' }), 'opened'))
    expect(await applied()).toMatchObject([{ outcome: 'accepted', reason: null, number: 1 }])
    expect((await tasks()).get(1)).toMatchObject({ title: 'First', status: 'open', source: 'codehost' })
    await send(report(repository.change(1, { title: 'Second', labels: ['bug'] }), 'edited'))
    await applied()
    expect((await tasks()).get(1)).toMatchObject({ title: 'Second', labels: ['bug'] })
    await send(report(repository.close(1, 'not_planned'), 'closed'))
    await applied()
    expect((await tasks()).get(1)).toMatchObject({ status: 'done', closed_reason: 'not_planned' })
    await send(report(repository.reopen(1), 'reopened'))
    const rows = await applied()
    const task = (await tasks()).get(1)
    expect(task).toMatchObject({ status: 'open', closed_reason: null })
    expect(rows.map((row) => row.tasks[0].taskId)).toEqual([task.id, task.id, task.id, task.id])
    expect(asked()).toEqual([])
    const { body } = await service.get(`/api/activity?projectId=${project.id}&taskId=${task.id}`)
    expect(body.data.map(({ type }: { type: string }) => type)).toEqual([
      'task.reopened',
      'task.updated',
      'task.completed',
      'task.updated',
      'task.updated',
      'task.created',
    ])
  })

  test('of a pull request makes the same task as a sync', async () => {
    const { repository, report, send, applied, tasks, sync } = await pushed()
    repository.pull({ title: 'Change', labels: ['a'], assignees: ['ada'] })
    await send(report(repository.merge(1), 'closed'))
    await applied()
    const before = (await tasks()).get(1)
    expect(before).toMatchObject({ status: 'done', closed_reason: 'merged', codehost_kind: 'pull_request' })
    const run = await sync()
    expect(run.pullRequests).toMatchObject({ unchanged: 1 })
    expect((await tasks()).get(1)).toEqual(before)
  })

  test('of a transfer marks the task', async () => {
    const { repository, report, send, applied, tasks } = await pushed()
    await send(report(repository.issue(), 'opened'))
    await applied()
    await send(report(repository.change(1), 'transferred'))
    await applied()
    expect((await tasks()).get(1)).toMatchObject({ source_state: 'transferred' })
  })

  test('of another connection is applied while a code host does not respond, and it is asked once', async () => {
    const [slow, other] = [await pushed(), await pushed()]
    const opened = [1, 2, 3].map(() => slow.report(slow.repository.issue(), 'opened'))
    for (const delivery of opened) await slow.send(delivery)
    await slow.applied()
    const isSlow = ({ url }: { url: string }) => url.includes(`/repositories/${slow.repository.id}/issues/`)
    service.host.fault({ status: 502 }, { times: 100, matches: isSlow })
    const { promise, resolve } = Promise.withResolvers<void>()
    service.host.onResponse((request) => (isSlow(request) ? promise : undefined))
    // In the same second: only the code host knows which is newer.
    for (const delivery of opened) await slow.send(delivery)
    await vi.waitFor(async () => {
      const rows = await slow.inbox()
      const isQueued = (row: { next_attempt_at: Date }) => Number(row.next_attempt_at) > Date.now() + 20_000
      expect(rows.filter(isQueued)).toHaveLength(3)
    })
    await other.send(other.report(other.repository.issue(), 'opened'))
    await other.applied()
    resolve()
    await service.service.push.whenRefetched()
    service.host.onResponse(() => {})
    expect(slow.asked()).toHaveLength(1)
    service.host.heal()
    await slow.applied()
    expect(slow.asked()).toHaveLength(4)
  })

  test('about the same number in another repository hides none of this one', async () => {
    const { repository, about, report, send, applied, tasks } = await pushed()
    const item = repository.issue()
    const other = { api: service.host.url, repository: { ...about, id: 5 } }
    await send(itemDelivery(item, { ...other, action: 'transferred' }))
    expect(await applied()).toMatchObject([{ outcome: 'ignored', number: null, comment_id: null }])
    // As earlier versions stored it.
    await service.query(
      "update deliveries set number = 1 where reason = 'other_repository' and action = 'transferred'",
    )
    await send(report(item, 'opened'))
    expect((await applied()).at(-1)).toMatchObject({ outcome: 'accepted', reason: null })
    expect((await tasks()).get(1)).toMatchObject({ title: 'Item 1' })
  })

  test('of a task that was deleted here leaves it deleted', async () => {
    const { repository, report, send, applied, tasks } = await pushed()
    await send(report(repository.issue(), 'opened'))
    await applied()
    await service.delete(`/api/tasks/${(await tasks()).get(1).id}`)
    await send(report(repository.change(1, { title: 'x' }), 'edited'))
    expect((await applied()).at(-1)).toMatchObject({ outcome: 'updated', reason: 'deleted_here' })
    expect((await tasks()).get(1).deleted_at).not.toBeNull()
  })

  test('of a rename refreshes the name, as the code host has it now', async () => {
    const { repository, send, applied, path, about } = await pushed()
    repository.rename('acme/renamed-once')
    const delivery = { action: 'renamed', repository: repositoryJson(service.host.url, about) }
    repository.rename('acme/renamed-twice')
    await send({ event: 'repository', payload: delivery })
    await send({ event: 'repository', payload: { ...delivery, action: 'publicized' } })
    expect((await applied()).map(({ outcome, reason }) => [outcome, reason])).toEqual([
      ['updated', null],
      ['ignored', 'action_ignored'],
    ])
    expect((await service.get(path)).body.repository).toBe('acme/renamed-twice')
  })

  test('never moves the position of the sync', async () => {
    const { project, repository, report, send, applied, sync } = await pushed()
    repository.issue()
    await sync()
    const position = async () =>
      (
        await service.query('select position, next_run_at from codehost_connections where project_id = $1', [
          project.id,
        ])
      )[0]
    const before = await position()
    await send(report(repository.change(1, { title: 'Pushed' }), 'edited'))
    await applied()
    expect(await position()).toEqual(before)
    expect((await sync()).issues).toMatchObject({ unchanged: 1, updated: 0 })
  })

  test('to an archived project is dropped', async () => {
    const { project, repository, report, send, applied } = await pushed()
    await service.post(`/api/projects/${project.id}/archive`)
    await send(report(repository.issue(), 'opened'))
    expect(await applied()).toMatchObject([{ outcome: 'ignored', reason: 'project_archived' }])
  })

  test('is retried when the code host fails, and failed when it refuses', async () => {
    const { repository, report, send, applied, tasks } = await pushed()
    const item = repository.issue()
    await send(report(item, 'opened'))
    await applied()
    const asks = {
      matches: ({ url }: { url: string }) => url.includes(`/repositories/${repository.id}/issues/`),
    }
    service.host.fault({ status: 502 }, asks)
    await send(report(item, 'labeled'))
    expect((await applied()).at(-1)).toMatchObject({ outcome: 'updated', attempts: 1 })
    service.host.fault({ status: 401, body: '{"message":"Bad credentials"}' }, asks)
    await send(report(item, 'labeled'))
    expect((await applied()).at(-1)).toMatchObject({ outcome: 'failed', reason: 'codehost_token_rejected' })
    expect((await tasks()).size).toBe(1)
  })

  test.each([
    ['of 256 KiB', '😀'.repeat(65_536), '😀'.repeat(65_536)],
    ['longer than that', '😀'.repeat(70_000), '😀'.repeat(65_536)],
    ['with a NUL', 'a\0b', 'ab'],
    ['with half a character', 'a\ud800b', 'a\ufffdb'],
    ['in two directions', 'שלום \u202eabc', 'שלום \u202eabc'],
  ])('with a text %s makes a task of it', async (_, body, description) => {
    const { repository, report, send, applied, tasks } = await pushed()
    const title = body.slice(0, 100)
    const { event, payload } = report(repository.issue({ title, body }), 'opened')
    await send({ event, payload: { ...payload, action: `${title}opened` } })
    expect(await applied()).toMatchObject([{ outcome: 'accepted', reason: null }])
    expect((await tasks()).get(1)).toMatchObject({ description, title: description.slice(0, 100) })
  })

  test('that nobody can read fails alone', async () => {
    const { repository, report, send, applied, tasks } = await pushed()
    const invalid = report(repository.issue({ odd: { number: 'one' } }), 'opened')
    await Promise.all([send(invalid), send(report(repository.issue(), 'opened'))])
    expect((await applied()).map(({ outcome }) => outcome).sort()).toEqual(['accepted', 'failed'])
    expect((await tasks()).size).toBe(1)
  })

  test('as it was recorded makes a task', async () => {
    const byRepository = Map.groupBy(
      recordedDeliveries().filter(({ event }) => ['issues', 'pull_request'].includes(event)),
      ({ payload }) => (payload as { repository: { id: number } }).repository.id,
    )
    for (const [id, deliveries] of byRepository) {
      const { send, applied, tasks } = await pushed(id)
      for (const delivery of deliveries) await send(delivery)
      for (const { outcome } of await applied()) expect(outcome).toMatch(/accepted|updated/)
      const reported = deliveries.map(({ payload }) => payload as Record<string, { number: number }>)
      const gone = reported.filter(({ action }) => ['deleted', 'transferred'].includes(String(action)))
      const numbers = new Set(reported.map(({ issue, pull_request }) => (issue ?? pull_request)?.number))
      expect((await tasks()).size).toBeGreaterThanOrEqual(numbers.size - gone.length)
    }
  })
})
