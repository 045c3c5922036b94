import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { commentDelivery, type HostComment } from '../support/code-host-comments.ts'
import {
  deliver,
  type HostDelivery,
  itemDelivery,
  recordedDeliveries,
} from '../support/code-host-deliveries.ts'
import { type Syncing, startSyncing } from '../support/syncing.ts'

let service: Syncing
beforeAll(async () => {
  service = await startSyncing()
})
afterAll(() => service.close())

let repositories = 0
async function pushed({ id, comments = true }: { id?: number; comments?: boolean } = {}) {
  const repository = service.host.repository(`acme/commented-${++repositories}`, { ...(id && { id }) })
  const project = await service.given.project()
  const path = `/api/projects/${project.id}/codehost`
  const connection = { repository: repository.name, schedule: 'off', comments }
  const { id: connectionId, webhook } = (await service.put(path, connection)).body
  const about = { api: service.host.url, repository: repository.about }
  const send = async (delivery: HostDelivery, deliveryId = randomUUID()) => {
    expect((await deliver(webhook, delivery, { deliveryId })).status).toBe(202)
  }
  return {
    project,
    path,
    repository,
    send,
    sync: (query = '') => service.sync(project.id, query),
    report: (comment: HostComment, action: 'created' | 'edited' | 'deleted') =>
      commentDelivery(comment, { ...about, action }),
    opened: (number: number) => {
      const item = repository.items.get(number)
      if (!item) throw new Error(`There is no ${number}.`)
      return itemDelivery(item, { ...about, action: 'opened' })
    },
    /** Waits until all are applied; returns the inbox. */
    applied: () =>
      vi.waitFor(
        async () => {
          const rows = await service.query('select * from deliveries where connection_id = $1 order by id', [
            connectionId,
          ])
          expect(rows.filter(({ outcome }) => outcome === 'pending')).toEqual([])
          return rows
        },
        { timeout: 15_000, interval: 50 },
      ),
    asked: () => service.asked().filter((line) => line.includes(`/repositories/${repository.id}/issues/`)),
    comments: () =>
      service.query(
        `select comments.body, tasks.codehost_number as number, comment_count from comments
         join tasks on tasks.id = task_id where tasks.project_id = $1 order by comments.id`,
        [project.id],
      ),
    activity: () =>
      service.query(
        `select type, actor_type, metadata from activity where project_id = $1 and type like 'comment.%' order by id`,
        [project.id],
      ),
  }
}

describe('a delivery about a comment', () => {
  test('creates, changes and deletes it without a sync or a request', async () => {
    const { repository, report, send, applied, asked, comments, activity, opened } = await pushed()
    repository.issue()
    await send(opened(1))
    await applied()
    const comment = repository.comment(1, { body: 'One' })
    await send(report(comment, 'created'))
    expect((await applied()).at(-1)).toMatchObject({ outcome: 'updated', reason: null, number: 1 })
    expect(await comments()).toEqual([{ body: 'One', number: 1, comment_count: 1 }])
    await send(report(repository.edit(comment.id, { body: 'Two' }), 'edited'))
    await applied()
    expect(await comments()).toEqual([{ body: 'Two', number: 1, comment_count: 1 }])
    await send(report(repository.removeComment(comment.id), 'deleted'))
    const rows = await applied()
    expect(await comments()).toEqual([])
    expect(new Set(rows.map((row) => row.tasks[0].taskId)).size).toBe(1)
    expect(rows.at(-1).comment_id).toBe(String(comment.id))
    expect((await activity()).map(({ type, actor_type }) => [type, actor_type])).toEqual([
      ['comment.created', 'codehost'],
      ['comment.updated', 'codehost'],
      ['comment.deleted', 'codehost'],
    ])
    expect(asked()).toEqual([])
  })

  test('on an issue that is not here yet brings it, and the delivery of the issue changes nothing', async () => {
    const { repository, report, send, applied, asked, comments, project, opened } = await pushed()
    repository.issue({ title: 'Unknown' })
    repository.pull({ title: 'A pull request' })
    const late = [opened(1), opened(2)]
    await send(report(repository.comment(1, { body: 'First' }), 'created'))
    await send(report(repository.comment(2, { body: 'Second' }), 'created'))
    await applied()
    for (const delivery of late) await send(delivery)
    expect((await applied()).map(({ reason }) => reason)).toEqual([null, null, 'outdated', 'outdated'])
    expect((await comments()).map(({ body, number }) => [number, body])).toEqual([
      [1, 'First'],
      [2, 'Second'],
    ])
    const tasks = await service.tasksOf(project.id)
    expect(tasks.get(1)).toMatchObject({ title: 'Unknown', codehost_kind: 'issue' })
    expect(tasks.get(2)).toMatchObject({ title: 'A pull request', codehost_kind: 'pull_request' })
    expect(asked()).toEqual([])
  })

  test('that is older changes nothing, and of the same second asks the code host', async () => {
    const { repository, report, send, applied, asked, comments } = await pushed()
    repository.issue()
    const comment = repository.comment(1, { body: 'One' })
    const deliveries = [report(comment, 'created')]
    deliveries.push(report(repository.edit(comment.id, { body: 'Two' }), 'edited'))
    deliveries.push(report(repository.edit(comment.id, { body: 'Three' }, 0), 'edited'))
    for (const delivery of deliveries.reverse()) {
      await send(delivery)
      await applied()
      expect((await comments()).map(({ body }) => body)).toEqual(['Three'])
    }
    expect((await applied()).map(({ reason }) => reason)).toEqual([null, 'unchanged', 'outdated'])
    expect(asked()).toEqual([`200 /repositories/${repository.id}/issues/comments/${comment.id}`])
  })

  test('of its deletion that came first keeps it away, from deliveries and from a page that was read before', async () => {
    const { repository, report, send, applied, comments, sync } = await pushed()
    repository.issue()
    const comment = repository.comment(1)
    const created = report(comment, 'created')
    service.host.onResponse(async ({ url }) => {
      if (!url.includes('comments?per_page=100') || !repository.comments.has(comment.id)) return
      await send(report(repository.removeComment(comment.id), 'deleted'))
      await applied()
    })
    expect(await sync()).toMatchObject({ status: 'completed', comments: { created: 0 } })
    service.host.onResponse(() => {})
    await send(created)
    expect((await applied()).map(({ reason }) => reason)).toEqual(['unchanged', 'outdated'])
    expect(await comments()).toEqual([])
  })

  test('of another repository hides none of this one', async () => {
    const { repository, report, send, applied, comments, opened } = await pushed()
    repository.issue()
    await send(opened(1))
    const comment = repository.comment(1, { body: 'Here' })
    const other = { api: service.host.url, repository: { ...repository.about, id: 5 } }
    await send(commentDelivery(comment, { ...other, action: 'deleted' }))
    expect((await applied()).at(-1)).toMatchObject({ outcome: 'ignored', number: null, comment_id: null })
    // As earlier versions stored it.
    await service.query(
      "update deliveries set comment_id = $1 where reason = 'other_repository' and event = 'issue_comment'",
      [String(comment.id)],
    )
    await send(report(comment, 'created'))
    await applied()
    expect(await comments()).toMatchObject([{ body: 'Here' }])
  })

  test('asks again when the host has deleted it meanwhile, and keeps it without access to its issue', async () => {
    const { repository, report, send, applied, comments } = await pushed()
    repository.issue()
    const ids = [repository.comment(1, { body: 'Stays' }), repository.comment(1, { body: 'Goes' })]
    const created = ids.map((comment) => report(comment, 'created'))
    for (const delivery of created) await send(delivery)
    await applied()
    const goes = ids[1] as HostComment
    repository.removeComment(goes.id)
    await send(report(goes, 'edited'))
    expect((await applied()).at(-1)).toMatchObject({ outcome: 'updated', reason: null })
    expect((await comments()).map(({ body }) => body)).toEqual(['Stays'])
    repository.remove(1, 'unseen')
    await send(created[0] as HostDelivery)
    expect((await applied()).at(-1)).toMatchObject({ outcome: 'updated', reason: 'unchanged' })
    expect((await comments()).map(({ body }) => body)).toEqual(['Stays'])
  })

  test('on a closed or deleted issue, a deleted task, and an archived project', async () => {
    const { repository, report, send, applied, comments, project, sync, activity } = await pushed()
    for (let i = 0; i < 3; i++) repository.issue()
    repository.close(1)
    await sync()
    await sync()
    const tasks = await service.tasksOf(project.id)
    await send(report(repository.comment(1, { body: 'Closed' }), 'created'))
    const late = report(repository.comment(2, { body: 'Just before' }), 'created')
    repository.remove(2)
    await sync('?mode=full')
    await send(late)
    await service.delete(`/api/tasks/${tasks.get(3).id}`)
    await send(report(repository.comment(3, { body: 'Hidden' }), 'created'))
    await applied()
    expect((await comments()).map(({ body }) => body).sort()).toEqual(['Closed', 'Hidden', 'Just before'])
    expect(await activity()).toHaveLength(2)
    expect((await service.tasksOf(project.id)).get(1)).toMatchObject({ status: 'done', comment_count: 1 })
    await service.post(`/api/projects/${project.id}/archive`)
    await send(report(repository.comment(1), 'created'))
    expect((await applied()).at(-1)).toMatchObject({ outcome: 'ignored', reason: 'project_archived' })
  })

  test('is dropped while comments are off, and can be replayed once they are on', async () => {
    const { repository, report, send, applied, comments, path } = await pushed({ comments: false })
    repository.issue()
    await send(report(repository.comment(1, { body: 'Kept' }), 'created'))
    const [row] = await applied()
    expect(row).toMatchObject({ outcome: 'ignored', reason: 'comments_off' })
    await service.put(path, { repository: repository.name, comments: true })
    const replay = `/api/deliveries/${row.id}/replay`
    expect((await service.post(replay)).status).toBe(200)
    await applied()
    expect((await comments()).map(({ body }) => body)).toEqual(['Kept'])
  })

  test('with an action or a payload that nobody can use changes nothing', async () => {
    const { repository, report, send, applied, comments } = await pushed()
    repository.issue()
    const { event, payload } = report(repository.comment(1), 'created')
    await send({ event, payload: { ...payload, action: 'pinned' } })
    await send({ event, payload: { ...payload, comment: { id: 'x' } } })
    await send({ event, payload: { ...payload, issue: null } })
    expect((await applied()).map(({ outcome, reason }) => [outcome, reason])).toEqual([
      ['ignored', 'action_ignored'],
      ['failed', 'invalid_payload'],
      ['failed', 'invalid_payload'],
    ])
    expect(await comments()).toEqual([])
  })

  test('as it was recorded leaves the comments that were not deleted', async () => {
    const recorded = recordedDeliveries().filter(({ event }) => event === 'issue_comment')
    const byRepository = Map.groupBy(
      recorded,
      ({ payload }) => (payload as { repository: { id: number } }).repository.id,
    )
    expect(recorded.length).toBeGreaterThan(8)
    for (const [id, deliveries] of byRepository) {
      const { send, applied, comments } = await pushed({ id })
      const payloads = deliveries.map(({ payload }) => payload as { action: string; comment: { id: number } })
      const created = deliveries.filter((_, index) => payloads[index]?.action === 'created')
      for (const delivery of created.slice(0, 1)) await send(delivery)
      await applied()
      expect(await comments()).toHaveLength(1)
      for (const delivery of deliveries) await send(delivery)
      for (const row of await applied()) expect(row.outcome).toBe('updated')
      expect(await comments()).toHaveLength(payloads.some(({ action }) => action === 'deleted') ? 0 : 1)
    }
  })
})
