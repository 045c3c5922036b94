import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { everywhere } from '../../../src/repositories/index.ts'
import { passTime } from '../../support/database-clock.ts'
import { type Syncing, startSyncing } from '../../support/syncing.ts'
import { writingBack } from '../../support/writing-back.ts'

let service: Syncing
beforeAll(async () => {
  service = await startSyncing({ hasOutboxWorker: false, hasDatabaseClock: true })
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

describe('a comment that is deleted here while its issue is read', () => {
  test('is deleted at the code host: the write of its change was taken before', async () => {
    const { id, repository } = await writingBack(service, [{}], { writeBack: 'comments' })
    const { body: comment } = await service.post(`/api/tasks/${id}/comments`, {
      body: 'Hello',
      isPublic: true,
    })
    await write()
    expect(repository.comments.size).toBe(1)
    await service.patch(`/api/comments/${comment.id}`, { body: 'Hello again' })
    service.host.onResponse(async ({ method, url }) => {
      if (method !== 'GET' || !url.endsWith('/issues/1')) return
      service.host.onResponse(() => {})
      expect((await service.delete(`/api/comments/${comment.id}`)).status).toBe(204)
    })
    await write()
    expect(repository.comments.size).toBe(0)
    expect((await service.task(id)).writeBack).toEqual({ state: 'done', error: null })
  })
})

describe('while a request without a response may still arrive', () => {
  const retry = async (id: string) => (await service.post(`/api/tasks/${id}/write-back/retry`)).body

  /** A public comment, and the request that posts it, which arrives when it is told. */
  async function posting() {
    const project = await writingBack(service, [{}], { writeBack: 'comments' })
    const { id, repository, written } = project
    service.host.fault('reset', isWrite)
    const path = `/api/tasks/${id}/comments`
    const comment = (await service.post(path, { body: 'Once', isPublic: true })).body
    await send()
    const [[, , sent] = []] = written()
    return {
      ...project,
      comment,
      arrive: () => repository.comment(1, { ...(sent as { body: string }), author: 'inlet-bot' }),
      posted: () => [...repository.comments.values()].map(({ body }) => String(body)),
    }
  }

  test('a retry waits for it, says until when, and posts nothing twice', async () => {
    const { id, arrive, posted, written } = await posting()
    await passTime(service, 15_000)
    const { writeBack } = await retry(id)
    expect(writeBack).toMatchObject({ state: 'pending', error: { code: 'codehost_unreachable' } })
    const now = await service.repos.within(everywhere).codehostWrites.now()
    const waitMs = Date.parse(writeBack.nextAttemptAt) - now.getTime()
    expect(waitMs).toBeGreaterThan(20_000)
    expect(waitMs).toBeLessThanOrEqual(30_000)
    await send()
    arrive()
    expect(await retry(id)).toMatchObject({ writeBack })
    await passTime(service, 31_000)
    await send()
    expect((await service.task(id)).writeBack).toEqual({ state: 'done', error: null })
    expect(posted()).toHaveLength(1)
    expect(written()).toHaveLength(1)
  })

  test.each(['edited', 'deleted'])(
    'a comment that failed, and is %s here, waits for it, too',
    async (change) => {
      const { comment, arrive, posted, id } = await posting()
      // As after three days.
      await service.query(
        `update codehost_writes set status = 'failed', finished_at = clock_timestamp() where task_id = $1`,
        [id],
      )
      const path = `/api/comments/${comment.id}`
      if (change === 'edited') await service.patch(path, { body: 'Edited' })
      else await service.delete(path)
      expect((await service.task(id)).writeBack).toMatchObject({
        state: 'pending',
        nextAttemptAt: expect.any(String),
      })
      await send()
      arrive()
      await write()
      await write()
      expect(posted()).toEqual(change === 'edited' ? [expect.stringMatching(/Edited$/)] : [])
    },
  )

  test('a retry that has nothing to wait for is made at once', async () => {
    const { id, repository } = await writingBack(service)
    service.host.fault({ status: 503 }, { matches: ({ method }) => method === 'GET' })
    await patch(id, { status: 'done' })
    await send()
    expect((await service.task(id)).writeBack).toMatchObject({ nextAttemptAt: expect.any(String) })
    expect((await retry(id)).writeBack).toEqual({ state: 'pending', error: null })
    await send()
    expect(repository.items.get(1)?.state).toBe('closed')
  })
})

describe('while a comment is posted', () => {
  const posting = async (during: (comment: { id: string }) => unknown, connection: object = {}) => {
    const project = await writingBack(service, [{}], { writeBack: 'comments', ...connection })
    const path = `/api/tasks/${project.id}/comments`
    const comment = (await service.post(path, { body: 'Posted', isPublic: true })).body
    service.host.onResponse(async ({ method }) => {
      if (method !== 'POST') return
      service.host.onResponse(() => {})
      await during(comment)
    })
    const posted = () => [...project.repository.comments.values()].map(({ body }) => String(body))
    return { ...project, comment, posted }
  }

  test('its deletion here is written after it', async () => {
    const { posted, written } = await posting(({ id }) => service.delete(`/api/comments/${id}`))
    await write()
    expect(posted()).toEqual([])
    expect(written().map(([method]) => method)).toEqual(['POST', 'DELETE'])
  })

  test('and write-back is turned off, it is known by the response', async () => {
    let set: (change: object) => Promise<unknown> = async () => {}
    const { comment, posted, ...project } = await posting(() => set({ writeBack: 'off' }))
    set = project.set
    await write()
    expect((await service.get(`/api/comments/${comment.id}`)).body.externalUrl).toMatch(/#issuecomment-\d+$/)
    await set({ writeBack: 'comments' })
    await service.patch(`/api/comments/${comment.id}`, { body: 'Edited' })
    await write()
    expect(posted()).toEqual([expect.stringMatching(/Edited$/)])
  })

  test.each(['edited', 'deleted'])(
    'and write-back is turned off and on again, it is %s there as it is here',
    async (change) => {
      let set: (change: object) => Promise<unknown> = async () => {}
      const { posted, ...project } = await posting(async ({ id }) => {
        await set({ writeBack: 'off' })
        const path = `/api/comments/${id}`
        if (change === 'edited') await service.patch(path, { body: 'Edited' })
        else await service.delete(path)
        await set({ writeBack: 'comments' })
      })
      set = project.set
      await write()
      expect(posted()).toEqual(change === 'edited' ? [expect.stringMatching(/Edited$/)] : [])
      expect((await service.task(project.id)).writeBack).toEqual({ state: 'done', error: null })
    },
  )
})
