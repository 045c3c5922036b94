import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { deliver } from '../support/code-host-deliveries.ts'
import { passTime } from '../support/database-clock.ts'
import { type Syncing, startSyncing } from '../support/syncing.ts'
import { applied, attempted, POLLING, settled, writingComments } from '../support/writing-back.ts'

let service: Syncing
beforeAll(async () => {
  service = await startSyncing({ hasDatabaseClock: true })
})
afterEach(() => {
  service.host.heal()
  service.host.onChange(() => {})
})
afterAll(() => service.close())

const writing = (items?: object[], connection?: object) => writingComments(service, items, connection)

describe('a public comment', () => {
  test('is posted with the name of its author, and its edits and deletion follow', async () => {
    const { id, post, done, posted, listed, written } = await writing()
    const comment = await post('It works in *2.3.1*.')
    expect((await service.get(`/api/tasks/${id}`)).body.writeBack).toMatchObject({ error: null })
    await done()
    const text = String(posted()[0]?.body)
    expect(text).toMatch(
      new RegExp(`^<!-- inlet-comment ${comment.id} -->\\n\\*\\*.+\\*\\* wrote in Inlet:\\n\\nIt works`),
    )
    expect(posted()[0]?.number).toBe(1)
    const [stored] = await listed()
    expect(stored).toMatchObject({ id: comment.id, externalUrl: expect.stringMatching(/#issuecomment-\d+$/) })

    await service.patch(`/api/comments/${comment.id}`, { body: 'It works in 2.3.2.' })
    await done()
    expect(posted()).toEqual([{ number: 1, body: text.replace('*2.3.1*', '2.3.2') }])
    await service.delete(`/api/comments/${comment.id}`)
    await done()
    expect(posted()).toEqual([])
    expect(written().map(([method]) => method)).toEqual(['POST', 'PATCH', 'DELETE'])
  })

  test('is no new comment when it comes back, by push or by poll, in any order', async () => {
    const { id, post, path, sync, listed, types, done, project } = await writing()
    const webhook = (await service.post(`${path}/webhook-secret`)).body
    const sent: Promise<unknown>[] = []
    service.host.onChange(({ delivery }) => void sent.push(deliver(webhook, delivery)))
    const comment = await post('Once')
    await done()
    await Promise.all(sent)
    await applied(service, project.id)
    await sync()
    await sync('?mode=full')
    expect((await listed()).map(({ id }: { id: string }) => id)).toEqual([comment.id])
    expect(await types()).toEqual(['comment.created', 'task.created'])
    expect((await service.get(`/api/tasks/${id}`)).body).toMatchObject({ commentCount: 1, version: 1 })
  })

  test('is known by its id if the response to its write is lost, and posted once', async () => {
    const { id, post, posted, listed, done, sync } = await writing()
    service.host.fault('lost', { matches: ({ method }) => method === 'POST' })
    const comment = await post('Once')
    await attempted(service, id)
    await passTime(service, 46_000)
    await done()
    expect(posted()).toHaveLength(1)
    expect(await listed()).toEqual([
      expect.objectContaining({ id: comment.id, externalUrl: expect.any(String) }),
    ])

    // Found by a sync before it is tried again.
    service.host.fault('lost', { matches: ({ method }) => method === 'POST' })
    const second = await post('Twice')
    await attempted(service, id)
    await sync()
    expect((await listed()).map(({ id }: { id: string }) => id)).toEqual([comment.id, second.id])
    await service.delete(`/api/comments/${second.id}`)
    await passTime(service, 46_000)
    await done()
    expect(posted()).toHaveLength(1)
  })

  test('is looked for in a list that ends, or is tried again later', async () => {
    const { id, post, posted, done, repository } = await writing()
    service.host.fault('lost', { matches: ({ method }) => method === 'POST' })
    await post('Once')
    await attempted(service, id)
    let asked = 0
    const path = `/repositories/${repository.id}/issues/1/comments`
    for (const [page, next] of [
      ['', 2],
      ['&page=2', 3],
      ['&page=3', 2],
    ] as const) {
      service.host.fault(
        {
          status: 200,
          headers: { link: `<${service.host.url}${path}?x=1&page=${next}>; rel="next"` },
          body: '[]',
        },
        {
          times: 500,
          matches: ({ method, url }) =>
            method === 'GET' &&
            url.includes(path) &&
            (page === '' ? !url.includes('&page=') : url.endsWith(page)) &&
            ++asked > 0,
        },
      )
    }
    await passTime(service, 46_000)
    await vi.waitFor(
      async () =>
        expect(
          (await service.query('select attempts from codehost_writes where task_id = $1', [id]))[0].attempts,
        ).toBe(2),
      POLLING,
    )
    expect(asked).toBeLessThan(200)
    service.host.heal()
    await passTime(service, 120_000)
    await done()
    expect(posted()).toHaveLength(1)
  })

  test('that was deleted before it was posted is not posted, and one whose fate is unknown is deleted', async () => {
    const { id, post, posted, done } = await writing()
    service.host.fault({ status: 503 }, { matches: ({ url }) => url.endsWith('/issues/1') })
    const unsent = await post('Never')
    await attempted(service, id)
    await service.delete(`/api/comments/${unsent.id}`)
    await service.post(`/api/tasks/${id}/write-back/retry`)
    await done()
    expect(posted()).toEqual([])
    service.host.fault('lost', { matches: ({ method }) => method === 'POST' })
    const sent = await post('Posted, as nobody knows')
    await attempted(service, id)
    await service.delete(`/api/comments/${sent.id}`)
    await passTime(service, 46_000)
    await done()
    expect(posted()).toEqual([])
  })

  test('is cut where the code host takes no more, and keeps emoji and directions of text', async () => {
    const { post, posted, done } = await writing()
    await post('😀'.repeat(65_536))
    await done()
    await post('שלום \u202eabc 😀')
    await done()
    const [long, mixed] = posted().map(({ body }) => body as string)
    expect(long?.length).toBeLessThanOrEqual(65_536)
    expect(long).toMatch(/😀\n\n\*\(The rest is in Inlet\.\)\*$/)
    expect(long?.isWellFormed()).toBe(true)
    expect(mixed).toMatch(/שלום \u202eabc 😀$/)
  })

  test('fails visibly on a locked issue, and works on a pull request', async () => {
    const { id, ids, repository, post, done, restrict } = await writing([
      { isLocked: true },
      { mergedAt: null },
    ])
    restrict({ login: 'inlet-bot', isCollaborator: false })
    await post('Locked')
    expect((await done()).writeBack).toMatchObject({
      state: 'failed',
      error: { message: expect.stringMatching(/locked/) },
    })
    await service.post(`/api/tasks/${ids[1]}/comments`, { body: 'Reviewed', isPublic: true })
    await settled(service, ids[1] ?? '')
    expect([...repository.comments.values()].map(({ number }) => number)).toEqual([2])
    repository.change(1, { isLocked: false })
    await service.post(`/api/tasks/${id}/write-back/retry`)
    expect((await done()).writeBack.state).toBe('done')
  })

  test.each(['turned off', 'disconnected'])(
    'is known, and its edits follow, if write-back is %s while it is posted',
    async (end) => {
      const { post, posted, listed, set, sync, done, path, token } = await writing()
      const ended = Promise.withResolvers<void>()
      service.host.onResponse(async ({ method }) => {
        if (method !== 'POST') return
        service.host.onResponse(() => {})
        if (end === 'turned off') await set({ writeBack: 'off' })
        else await service.delete(path)
        ended.resolve()
      })
      const comment = await post('Once')
      await ended.promise
      await set({ token, comments: true, schedule: 'off', writeBack: 'comments' })
      await sync()
      expect(await listed()).toEqual([
        expect.objectContaining({ id: comment.id, externalUrl: expect.any(String) }),
      ])
      await service.patch(`/api/comments/${comment.id}`, { body: 'Edited' })
      await done()
      expect(posted()).toEqual([{ number: 1, body: expect.stringMatching(/Edited$/) }])
    },
  )

  test('that was deleted there stays here, and its edits are given up', async () => {
    const { post, repository, done, types, posted } = await writing()
    const comment = await post('Here')
    await done()
    const [external] = repository.comments.keys()
    repository.removeComment(external as bigint)
    await service.patch(`/api/comments/${comment.id}`, { body: 'Still here' })
    expect((await done()).writeBack).toMatchObject({ state: 'dropped', error: { code: 'comment_deleted' } })
    expect(await types()).toContain('task.write_back_dropped')
    expect(posted()).toEqual([])
  })
})
