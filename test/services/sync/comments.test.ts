import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { syncedComments } from '../../support/synced-comments.ts'
import { type Syncing, startSyncing, sumOf } from '../../support/syncing.ts'

let service: Syncing
beforeAll(async () => {
  service = await startSyncing()
})
afterAll(() => service.close())

type Connected = Awaited<ReturnType<Syncing['connected']>>

const { withComments, commentsOf, bodiesOf, activityOf } = syncedComments(() => service)

/** The requests since, without the host and the query. */
const askedSince = (since: number) =>
  service.asked(since).map((line) => line.replace(/\?.*/, '').replace(/\/repositories\/\d+/, ''))

async function turn(connected: Connected, comments: boolean) {
  const body = { repository: connected.repository.name, comments }
  const path = `/api/projects/${connected.project.id}/codehost`
  expect((await service.put(path, body)).body.comments).toBe(comments)
}

describe('comments of the code host', () => {
  test('come with the first run, as the code host has them', async () => {
    const connected = await withComments(2)
    const { repository, sync } = connected
    repository.pull()
    const first = repository.comment(1, { body: 'First', author: 'bob' })
    repository.comment(3, { body: 'On a pull request', author: null })
    repository.comment(1, { body: 'Third' })
    const run = await sync()
    expect(run).toMatchObject({ status: 'completed', comments: { created: 3, updated: 0, deleted: 0 } })
    expect(sumOf(run)).toBe(run.fetched)

    const stored = await commentsOf(connected)
    expect(stored.map(({ body, number, comment_count }) => [body, number, comment_count])).toEqual([
      ['First', 1, 2],
      ['On a pull request', 3, 1],
      ['Third', 1, 2],
    ])
    const { body: page } = await service.get(`/api/tasks/${stored[0].task_id}/comments`)
    expect(page.data).toEqual([
      {
        id: stored[0].id,
        taskId: stored[0].task_id,
        body: 'First',
        author: { type: 'codehost', id: null, name: 'bob', url: 'https://codehost.example/bob' },
        isPublic: true,
        externalUrl: `https://codehost.example/${repository.name}/issues/1#issuecomment-${first.id}`,
        createdAt: new Date(first.createdAt).toISOString(),
        updatedAt: new Date(first.createdAt).toISOString(),
      },
      expect.objectContaining({ body: 'Third' }),
    ])
    expect((await commentsOf(connected))[1]).toMatchObject({ author_name: 'ghost', author_url: null })
    const activity = await activityOf(connected, 'comment.created')
    expect(activity).toHaveLength(3)
    expect(activity[2]).toMatchObject({
      actor_type: 'codehost',
      actor_name: repository.name,
      task_id: stored[0].task_id,
      metadata: { commentId: stored[2].id, author: 'bob', commentCount: 2 },
    })
  })

  test('have different ids where numbers are too small to tell them apart', async () => {
    const connected = await withComments(1)
    const ids = [1, 2, 3].map(() => connected.repository.comment(1).id)
    expect(new Set(ids.map(Number)).size).toBeLessThan(3)
    await connected.sync()
    expect((await commentsOf(connected)).map(({ external_id }) => external_id)).toEqual(ids.map(String))
  })

  test('cost an unchanged repository two requests, the second to exactly the same URL', async () => {
    const connected = await withComments(3)
    for (let i = 0; i < 120; i++) connected.repository.comment(1 + (i % 3))
    await connected.sync()
    const last = service.host.requests.at(-1)?.url
    for (let i = 0; i < 2; i++) {
      const before = service.host.requests.length
      expect(await connected.sync()).toMatchObject({ status: 'completed', fetched: 0 })
      expect(askedSince(before)).toEqual(['304 /issues', '304 /issues/comments'])
      expect(service.asked(before)[1]).toBe(`304 ${last}`)
    }
  })

  test('cost a repository without any two requests, too, and an empty one', async () => {
    for (const fill of [2, 0]) {
      const connected = await withComments(fill)
      await connected.sync()
      const before = service.host.requests.length
      await connected.sync()
      expect(askedSince(before)).toEqual(['304 /issues', '304 /issues/comments'])
      if (fill === 0) connected.repository.issue()
      connected.repository.comment(1, { body: 'The first one' })
      expect((await connected.sync()).comments).toMatchObject({ created: 1 })
      expect(await bodiesOf(connected)).toEqual(['The first one'])
    }
  })

  test('follow edits, and nothing else makes them edited', async () => {
    const connected = await withComments(1)
    const { repository, sync } = connected
    const comment = repository.comment(1, { body: 'Before' })
    await sync()
    repository.edit(comment.id, { author: 'renamed' })
    expect((await sync()).comments).toEqual({ created: 0, updated: 1, deleted: 0 })
    const [touched] = await commentsOf(connected)
    expect(touched).toMatchObject({ author_name: 'renamed', updated_at: touched.created_at })
    expect(await activityOf(connected, 'comment.updated')).toEqual([])

    repository.edit(comment.id, { body: 'After' })
    await sync()
    const [edited] = await commentsOf(connected)
    expect(edited.body).toBe('After')
    expect(edited.updated_at > edited.created_at).toBe(true)
    expect(await activityOf(connected, 'comment.updated')).toMatchObject([
      { actor_type: 'codehost', metadata: { commentId: edited.id, commentCount: 1 } },
    ])
    const { body: task } = await service.get(`/api/tasks/${edited.task_id}`)
    expect(task).toMatchObject({ version: 1, commentCount: 1 })
  })

  test('of any text are stored: long, empty, with emoji, bidi, NUL and half characters', async () => {
    const connected = await withComments(1)
    const bodies = [
      'a\0b',
      'half \ud83d emoji',
      '👩‍👩‍👧 \u202eright to left\u202c',
      null,
      '𝒳'.repeat(65_536),
      'x'.repeat(262_145),
    ]
    for (const body of bodies) connected.repository.comment(1, { body })
    await connected.sync()
    const stored = await bodiesOf(connected)
    expect(stored.slice(0, 4)).toEqual(['ab', 'half \ufffd emoji', bodies[2], ''])
    expect(stored[4]).toBe(bodies[4])
    expect(stored[5]).toHaveLength(262_144)
  })

  test('that arrive before their issue bring it', async () => {
    const connected = await withComments(1)
    const { repository, sync } = connected
    await sync()
    repository.comment(1)
    // Opened and commented between the two lists.
    service.host.onResponse(({ url }) => {
      if (repository.items.size > 1 || !/\/issues\?.*since/.test(url)) return
      repository.issue({ title: 'Between' })
      repository.comment(2, { body: 'On the new one' })
    })
    const run = await sync()
    service.host.onResponse(() => {})
    expect(run).toMatchObject({ issues: { created: 1 }, comments: { created: 2 } })
    expect(sumOf(run)).toBe(run.fetched)
    expect((await service.tasksOf(connected.project.id)).get(2)).toMatchObject({
      title: 'Between',
      comment_count: 1,
    })
    expect((await sync()).comments).toEqual({ created: 0, updated: 0, deleted: 0 })
  })

  test('on deleted tasks are there when the task is restored, without activity; on purged ones they are skipped', async () => {
    const connected = await withComments(2)
    const { repository, sync, project } = connected
    await sync()
    const tasks = await service.tasksOf(project.id)
    for (const number of [1, 2]) await service.delete(`/api/tasks/${tasks.get(number).id}`)
    await service.query('delete from tasks where id = $1', [tasks.get(2).id])
    await service.query(
      `insert into purged_items (project_id, codehost_repository_id, codehost_number) values ($1, $2, 2)`,
      [project.id, repository.id],
    )
    repository.comment(1, { body: 'While deleted' })
    repository.comment(2)
    const before = service.host.requests.length
    expect(await sync()).toMatchObject({ status: 'completed', comments: { created: 1 } })
    expect(askedSince(before).filter((line) => /issues\/\d/.test(line))).toEqual([])
    expect(await activityOf(connected, 'comment.created')).toEqual([])
    await service.post(`/api/tasks/${tasks.get(1).id}/restore`)
    const { body } = await service.get(`/api/tasks/${tasks.get(1).id}/comments`)
    expect(body.data).toMatchObject([{ body: 'While deleted' }])
    expect((await service.get(`/api/tasks/${tasks.get(1).id}`)).body.commentCount).toBe(1)
  })

  test('are the older ones, too, when they are turned on later, and stay when they are turned off', async () => {
    const connected = await service.connected({}, 2)
    const { repository, sync, project } = connected
    const comment = repository.comment(1, { body: 'Old' })
    const before = service.host.requests.length
    await sync()
    expect(askedSince(before).filter((line) => line.includes('comments'))).toEqual([])
    const nextFull = async () =>
      (
        await service.query('select next_full_at from codehost_connections where project_id = $1', [
          project.id,
        ])
      )[0].next_full_at.getTime() - Date.now()
    await service.query(`update codehost_connections set next_full_at = now() + interval '6 days'`)
    await turn(connected, true)
    expect(await nextFull()).toBeLessThan(25 * 3_600_000)
    await sync()
    expect(await bodiesOf(connected)).toEqual(['Old'])

    await turn(connected, false)
    repository.comment(1, { body: 'Unseen' })
    repository.edit(comment.id, { body: 'Edited' })
    await sync()
    await sync('?mode=full')
    expect(await bodiesOf(connected)).toEqual(['Old'])
    await turn(connected, true)
    await sync()
    expect(await bodiesOf(connected)).toEqual(['Edited', 'Unseen'])
  })

  test('turned off during a run end it', async () => {
    const connected = await withComments(1)
    for (let i = 0; i < 150; i++) connected.repository.comment(1)
    let isOff = false
    service.host.onResponse(async ({ url }) => {
      if (isOff || !url.includes('comments?per_page=100')) return
      isOff = true
      await turn(connected, false)
    })
    const run = await connected.sync()
    service.host.onResponse(() => {})
    expect(run).toMatchObject({ status: 'completed', error: null, comments: { created: 0 } })
    expect(await bodiesOf(connected)).toEqual([])
  })

  test('come again after a reconnection, as the code host has them', async () => {
    const connected = await withComments(1)
    const { repository, sync, project } = connected
    repository.comment(1, { body: 'Theirs' })
    repository.comment(1, { body: 'Deleted here' })
    await sync()
    const path = `/api/projects/${project.id}/codehost`
    await service.delete(path)
    const [first, second] = await commentsOf(connected)
    expect((await service.patch(`/api/comments/${first.id}`, { body: 'Ours' })).status).toBe(200)
    expect((await service.delete(`/api/comments/${second.id}`)).status).toBe(204)
    await service.put(path, { repository: repository.name, comments: true, schedule: 'off' })
    const managed = await service.patch(`/api/comments/${first.id}`, { body: 'Ours' })
    expect([managed.status, managed.body.code]).toEqual([403, 'managed_by_codehost'])
    expect((await service.delete(`/api/comments/${first.id}`)).body.code).toBe('managed_by_codehost')
    await sync()
    expect((await bodiesOf(connected)).sort()).toEqual(['Deleted here', 'Theirs'])
  })
})
