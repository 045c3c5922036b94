import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Comment } from '../../src/schemas/comment.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { TIMESTAMP, UNKNOWN_ID, UUID } from '../support/patterns.ts'

let service: TestApp
beforeAll(async () => {
  service = await startApp()
})
afterAll(() => service.close())

async function givenTask() {
  const project = await service.given.project()
  const task = await service.given.task(project.inbox)
  const write = (body: string, options = {}) =>
    service.post(`/api/tasks/${task.id}/comments`, { body }, options)
  return { id: task.id, project, write, path: `/api/tasks/${task.id}/comments` }
}

/** A comment as a sync stores it. */
async function givenHostComment(taskId: string): Promise<string> {
  const now = service.clock.now()
  const id = service.clock.newId(now)
  await service.query(
    `insert into comments (id, task_id, body, author_type, author_name, author_url, is_public, external_id,
       external_url, created_at, updated_at)
     values ($1, $2, 'From the host', 'codehost', 'octocat', 'https://github.com/octocat', true, 7,
       'https://github.com/o/r/issues/1#issuecomment-7', $3, $3)`,
    [id, taskId, now],
  )
  return id
}

const bodiesOf = ({ body }: { body: { data: Comment[] } }) => body.data.map(({ body }) => body)
const activityOf = async (taskId: string) =>
  service.query('select type, actor_name, metadata from activity where task_id = $1 order by id', [taskId])

describe('a comment', () => {
  test('is created with its author, and counted without a new version of the task', async () => {
    const { id, path, write } = await givenTask()
    const key = await service.given.key({ name: 'Ada', scopes: ['tasks:read', 'tasks:write'] })
    const before = (await service.get(`/api/tasks/${id}`)).body

    const { status, headers, body } = await write('Reproduced.', { key })

    expect(status).toBe(201)
    expect(body).toEqual({
      id: expect.stringMatching(UUID),
      taskId: id,
      body: 'Reproduced.',
      author: { type: 'key', id: expect.stringMatching(UUID), name: 'Ada', url: null },
      isPublic: false,
      externalUrl: null,
      createdAt: expect.stringMatching(TIMESTAMP),
      updatedAt: body.createdAt,
    })
    expect(headers.get('location')).toBe(`/api/comments/${body.id}`)
    expect((await service.get(`/api/comments/${body.id}`)).body).toEqual(body)
    expect((await service.get(path)).body).toEqual({ data: [body], nextCursor: null })
    expect(before.commentCount).toBe(0)
    expect((await service.get(`/api/tasks/${id}`)).body).toEqual({ ...before, commentCount: 1 })
    const metadata = { commentId: body.id, author: 'Ada', commentCount: 1 }
    expect(await activityOf(id)).toEqual([{ type: 'comment.created', actor_name: 'Ada', metadata }])
  })

  test('is changed and deleted, each with an activity', async () => {
    const { id, write, path } = await givenTask()
    const { body: comment } = await write('First')
    const own = `/api/comments/${comment.id}`

    const changed = await service.patch(own, { body: 'Second' })
    expect([changed.status, changed.body.body]).toEqual([200, 'Second'])
    expect(changed.body.updatedAt >= comment.updatedAt).toBe(true)
    expect(changed.body.createdAt).toBe(comment.createdAt)
    expect((await service.delete(own)).status).toBe(204)

    expect((await service.get(path)).body.data).toEqual([])
    expect((await service.get(own)).body.code).toBe('comment_not_found')
    expect((await service.get(`/api/tasks/${id}`)).body.commentCount).toBe(0)
    const types = (await activityOf(id)).map(({ type }) => type)
    expect(types).toEqual(['comment.created', 'comment.updated', 'comment.deleted'])
  })

  test('that is changed to the same text stays as it is, without an activity', async () => {
    const { id, write } = await givenTask()
    const { body: comment } = await write('Same')
    for (const change of [{ body: 'Same' }, {}]) {
      expect((await service.patch(`/api/comments/${comment.id}`, change)).body).toEqual(comment)
    }
    expect(await activityOf(id)).toHaveLength(1)
  })

  test('keeps its text, whatever characters it has', async () => {
    const { write, path } = await givenTask()
    const texts = ['    indented\n\n', '\u{1F469}\u{200D}\u{1F4BB}', '\u{202E}bidi', '😀'.repeat(65_536)]
    for (const text of texts) expect((await write(text)).status).toBe(201)
    expect(bodiesOf(await service.get(path))).toEqual(texts)
  })

  test('is rejected if its text is missing, blank, too long or not a text', async () => {
    const { id, path } = await givenTask()
    for (const body of [undefined, '', ' \n\t', 'x'.repeat(65_537), 5, null, 'a\u0000b']) {
      const { status, body: problem } = await service.post(path, { body })
      expect([body, status, problem.errors?.[0]?.path]).toEqual([body, 400, '/body'])
    }
    expect((await service.post(path, { body: 'Text', author: 'me' })).body.errors[0].path).toBe('/author')
    expect((await service.get(`/api/tasks/${id}`)).body.commentCount).toBe(0)
  })

  test('is created once for an idempotency key', async () => {
    const { id, path } = await givenTask()
    const send = () =>
      service.post(path, { body: 'Once' }, { headers: { 'idempotency-key': `comment-${id}` } })
    const [first, second] = await Promise.all([send(), send()])
    expect([first.status, second.status]).toEqual([201, 201])
    expect(second.body).toEqual(first.body)
    expect((await service.get(`/api/tasks/${id}`)).body.commentCount).toBe(1)
  })

  test('of many at once is counted each', async () => {
    const { id, write } = await givenTask()
    await Promise.all(Array.from({ length: 20 }, (_, index) => write(`Comment ${index}`)))
    expect((await service.get(`/api/tasks/${id}`)).body.commentCount).toBe(20)
  })
})

describe('the comments on a task', () => {
  test('come oldest first or newest first, page by page', async () => {
    const { write, path } = await givenTask()
    const texts = Array.from({ length: 25 }, (_, index) => `Comment ${index}`)
    for (const text of texts) await write(text)

    for (const [sort, expected] of [
      ['createdAt', texts],
      ['-createdAt', texts.toReversed()],
    ] as const) {
      const pages: string[][] = []
      let cursor = ''
      do {
        const page = await service.get(`${path}?limit=12&sort=${sort}${cursor}`)
        pages.push(bodiesOf(page))
        cursor = page.body.nextCursor === null ? '' : `&cursor=${page.body.nextCursor}`
      } while (cursor)
      expect(pages.map(({ length }) => length)).toEqual([12, 12, 1])
      expect(pages.flat()).toEqual(expected)
    }
    const { nextCursor } = (await service.get(`${path}?limit=1`)).body
    const other = await service.get(`${path}?sort=-createdAt&cursor=${nextCursor}`)
    expect([other.status, other.body.code]).toEqual([400, 'invalid_cursor'])
  })

  test('are hidden with the task, restored with it, and purged with it', async () => {
    const { id, write, path } = await givenTask()
    const { body: comment } = await write('Text')
    await service.delete(`/api/tasks/${id}`)
    expect((await service.get(path)).body.code).toBe('task_not_found')
    expect((await write('Late')).body.code).toBe('task_not_found')
    expect((await service.get(`/api/comments/${comment.id}`)).body.code).toBe('comment_not_found')
    expect((await service.patch(`/api/comments/${comment.id}`, { body: 'Late' })).status).toBe(404)
    expect((await service.delete(`/api/comments/${comment.id}`)).status).toBe(404)

    expect((await service.post(`/api/tasks/${id}/restore`)).body.commentCount).toBe(1)
    expect((await service.get(path)).body.data).toEqual([comment])

    await service.delete(`/api/tasks/${id}`)
    await service.query(`update tasks set deleted_at = now() - interval '31 days' where id = $1`, [id])
    await service.service.cleanup.cleanUp()
    expect(await service.query('select id from comments where task_id = $1', [id])).toEqual([])
  })

  test('are removed with the project of a deleted task', async () => {
    const { id, project, write } = await givenTask()
    await write('Text')
    await service.delete(`/api/tasks/${id}`)
    expect((await service.delete(`/api/projects/${project.id}`)).status).toBe(204)
    expect(await service.query('select id from comments where task_id = $1', [id])).toEqual([])
  })

  test('move with it to another project', async () => {
    const { id, project, write, path } = await givenTask()
    const other = await service.given.project()
    const before = await service.given.key({ projectId: project.id })
    const after = await service.given.key({ projectId: other.id })
    const { body: comment } = await write('Text')
    expect((await service.get(path, { key: after })).body.code).toBe('task_not_found')
    expect((await service.get(`/api/comments/${comment.id}`, { key: after })).status).toBe(404)

    await service.patch(`/api/tasks/${id}`, { listId: other.inbox.id })

    expect((await service.get(path, { key: after })).body.data).toEqual([comment])
    expect((await service.get(`/api/comments/${comment.id}`, { key: before })).status).toBe(404)
  })

  test('in an archived project are read-only', async () => {
    const { project, write, path } = await givenTask()
    const { body: comment } = await write('Text')
    await service.post(`/api/projects/${project.id}/archive`)

    expect((await service.get(path)).body.data).toEqual([comment])
    for (const { status, body } of [
      await write('Late'),
      await service.patch(`/api/comments/${comment.id}`, { body: 'Late' }),
      await service.delete(`/api/comments/${comment.id}`),
    ]) {
      expect([status, body.code]).toEqual([409, 'project_archived'])
    }
  })
})

describe('who can do what', () => {
  const scopes: ('tasks:read' | 'tasks:write')[] = ['tasks:read', 'tasks:write']

  test('a key changes and deletes its own comments; others need admin', async () => {
    const { write } = await givenTask()
    const [author, other] = [await service.given.key({ scopes }), await service.given.key({ scopes })]
    const { body: comment } = await write('Mine', { key: author })
    const own = `/api/comments/${comment.id}`

    for (const { status, body } of [
      await service.patch(own, { body: 'Theirs' }, { key: other }),
      await service.delete(own, { key: other }),
    ]) {
      expect([status, body.code, body.requiredScope]).toEqual([403, 'insufficient_scope', 'admin'])
    }
    expect((await service.patch(own, { body: 'Mine again' }, { key: author })).body.body).toBe('Mine again')
    expect((await service.patch(own, { body: 'By admin' })).body.author).toEqual(comment.author)
    expect((await service.delete(own)).status).toBe(204)
  })

  test('a comment from a code host that is no longer connected can be changed by an admin only', async () => {
    const { id, path } = await givenTask()
    const commentId = await givenHostComment(id)
    expect((await service.get(path)).body.data).toMatchObject([
      {
        body: 'From the host',
        author: { type: 'codehost', id: null, name: 'octocat', url: 'https://github.com/octocat' },
        externalUrl: 'https://github.com/o/r/issues/1#issuecomment-7',
      },
    ])
    const own = `/api/comments/${commentId}`
    const key = await service.given.key({ scopes: ['tasks:read', 'tasks:write'] })
    expect((await service.patch(own, { body: 'Mine' }, { key })).body.code).toBe('insufficient_scope')
    expect((await service.patch(own, { body: 'Mine' })).body.body).toBe('Mine')
    expect((await service.delete(own)).status).toBe(204)
  })

  test('without tasks:read, a write returns only the id', async () => {
    const { id, write, path } = await givenTask()
    const key = await service.given.key({ scopes: ['tasks:write'] })
    const headers = { 'idempotency-key': `only-${id}` }
    const first = await write('Text', { key, headers })
    expect([first.status, first.body]).toEqual([201, { id: expect.stringMatching(UUID) }])
    expect((await write('Text', { key, headers })).body).toEqual(first.body)
    const changed = await service.patch(`/api/comments/${first.body.id}`, { body: 'Other' }, { key })
    expect(changed.body).toEqual(first.body)
    expect((await service.get(path, { key })).status).toBe(403)
  })

  test('without tasks:write, nothing is written; unknown ids are not found', async () => {
    const { write } = await givenTask()
    const key = await service.given.key({ scopes: ['tasks:read'] })
    expect((await write('Text', { key })).body.requiredScope).toBe('tasks:write')
    expect((await service.get(`/api/tasks/${UNKNOWN_ID}/comments`)).body.code).toBe('task_not_found')
    expect((await service.post(`/api/tasks/${UNKNOWN_ID}/comments`, { body: 'x' })).body.code).toBe(
      'task_not_found',
    )
    expect((await service.patch(`/api/comments/${UNKNOWN_ID}`, { body: 'x' })).body.code).toBe(
      'comment_not_found',
    )
    expect((await service.delete('/api/comments/x')).body.errors[0].path).toBe('path.id')
  })
})
