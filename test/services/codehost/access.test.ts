import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { commentDelivery } from '../../support/code-host-comments.ts'
import { deliver, itemDelivery } from '../../support/code-host-deliveries.ts'
import { type Syncing, startSyncing } from '../../support/syncing.ts'
import { POLLING, settled, writingBack } from '../../support/writing-back.ts'

let service: Syncing
beforeAll(async () => {
  service = await startSyncing()
})
afterAll(() => service.close())

/** A private repository whose token can lose its access, and get it back. */
async function writing(items: object[] = [{}]) {
  const writing = await writingBack(service, items, { writeBack: 'comments', comments: true })
  const { repository, project, restrict } = writing
  repository.about.isPrivate = true
  const webhook = (await service.post(`${writing.path}/webhook-secret`)).body
  const about = { api: service.host.url, repository: repository.about }
  return {
    ...writing,
    about,
    loseAccess: () => restrict({ repositories: [] }),
    regainAccess: () => restrict({ login: 'inlet-bot' }),
    /** Sends a delivery, and returns what became of it. */
    async send(delivery: Parameters<typeof deliver>[1]) {
      await deliver(webhook, delivery)
      return vi.waitFor(async () => {
        const [latest] = (await service.get(`/api/deliveries?projectId=${project.id}`)).body.data
        expect(latest.outcome).not.toBe('pending')
        return latest
      }, POLLING)
    },
  }
}

const comment = (id: string, body = 'From here') =>
  service.post(`/api/tasks/${id}/comments`, { body, isPublic: true })

const bodiesOf = async (id: string) =>
  (await service.get(`/api/tasks/${id}/comments`)).body.data.map(({ body }: { body: string }) => body)

const activityOf = async (id: string, type: string) =>
  (await service.get(`/api/activity?taskId=${id}&type=${type}`)).body.data

const NO_ACCESS = { code: 'codehost_repository_not_found', message: expect.stringContaining('token') }

describe('while the token has no access to the repository', () => {
  test('what is to be written fails visibly, and is written after a run has read the repository', async () => {
    const { ids, repository, loseAccess, regainAccess, sync, written } = await writing([{}, {}])
    const [id = '', other = ''] = ids
    loseAccess()
    await service.patch(`/api/tasks/${id}`, { status: 'done' })
    await comment(id)
    await service.patch(`/api/tasks/${other}`, { status: 'done' })
    for (const id of ids) {
      expect(await settled(service, id)).toMatchObject({
        sourceState: 'present',
        writeBack: { state: 'failed', error: NO_ACCESS },
      })
      expect(await activityOf(id, 'task.write_back_failed')).not.toEqual([])
    }
    expect(await sync()).toMatchObject({ status: 'failed', error: NO_ACCESS })
    // Retried too early, it fails again.
    expect((await service.post(`/api/tasks/${other}/write-back/retry`)).status).toBe(200)
    expect((await settled(service, other)).writeBack).toMatchObject({ state: 'failed', error: NO_ACCESS })

    regainAccess()
    expect((await service.post(`/api/tasks/${other}/write-back/retry`)).body.writeBack.state).toBe('pending')
    expect((await settled(service, other)).writeBack).toEqual({ state: 'done', error: null })
    expect(await sync()).toMatchObject({ status: 'completed' })
    expect((await settled(service, id)).writeBack).toEqual({ state: 'done', error: null })
    expect(repository.items.get(1)).toMatchObject({ state: 'closed', stateReason: 'completed' })
    expect([...repository.comments.values()].map(({ body }) => body)).toEqual([
      expect.stringContaining('From here'),
    ])
    expect(written().map(([method, url]) => `${method} ${url}`)).toEqual([
      'PATCH /issues/2',
      'PATCH /issues/1',
      'POST /issues/1/comments',
    ])
  })

  test('nothing counts as deleted, by push, by poll, or by a full run', async () => {
    const { id, repository, about, loseAccess, regainAccess, sync, send } = await writing()
    const written = repository.comment(1, { body: 'From there' })
    await sync()
    loseAccess()
    const before = await service.task(id)
    // Of the second of what is stored: only the code host knows which is newer.
    const item = repository.change(1, { title: 'Same second' }, 0)
    const report = () => send(itemDelivery(item, { ...about, action: 'edited' }))
    expect(await report()).toMatchObject({ outcome: 'failed', reason: 'codehost_repository_not_found' })
    repository.edit(written.id, { body: 'Edited there' }, 0)
    const edited = await send(commentDelivery(written, { ...about, action: 'edited' }))
    expect(edited).toMatchObject({ outcome: 'failed', reason: 'codehost_repository_not_found' })
    expect(await sync()).toMatchObject({ status: 'failed', gone: 0, error: NO_ACCESS })
    expect(await sync('?mode=full')).toMatchObject({ status: 'failed', gone: 0, error: NO_ACCESS })
    expect(await service.task(id)).toEqual(before)

    regainAccess()
    expect(await report()).toMatchObject({ outcome: 'updated' })
    expect(await service.task(id)).toMatchObject({ title: 'Same second', sourceState: 'present' })
  })

  test('an item is not deleted if the access returns before the repository is asked for', async () => {
    const { id, repository, loseAccess, regainAccess, written } = await writing()
    loseAccess()
    service.host.onResponse(({ url }) => {
      if (url.endsWith('/issues/1')) regainAccess()
    })
    await service.patch(`/api/tasks/${id}`, { status: 'done' })
    const task = await settled(service, id)
    service.host.onResponse(() => {})
    expect(task).toMatchObject({ sourceState: 'present', writeBack: { state: 'done', error: null } })
    expect(repository.items.get(1)).toMatchObject({ state: 'closed' })
    expect(written().map(([method]) => method)).toEqual(['PATCH'])
  })

  test('a comment is not deleted by a push if the access returns before its item is asked for', async () => {
    const { id, repository, about, loseAccess, regainAccess, sync, send } = await writing()
    const written = repository.comment(1, { body: 'From there' })
    await sync()
    loseAccess()
    service.host.onResponse(({ url }) => {
      if (url.includes('/issues/comments/')) regainAccess()
    })
    // Of the second of what is stored: only the code host knows which is newer.
    repository.edit(written.id, { body: 'Edited there' }, 0)
    const edited = await send(commentDelivery(written, { ...about, action: 'edited' }))
    service.host.onResponse(() => {})
    expect(edited).toMatchObject({ outcome: 'updated', reason: null })
    expect(await bodiesOf(id)).toEqual(['Edited there'])
  })

  test('a full run marks no item as deleted if the access returns before the repository is asked for', async () => {
    const { ids, repository, loseAccess, regainAccess, sync } = await writing([{}, {}, {}])
    repository.remove(2)
    repository.remove(3)
    const before = service.host.requests.length
    service.host.onResponse(({ url }) => {
      if (url.includes('sort=updated') && url.includes('since=')) {
        delete repository.items.get(2)?.gone
        loseAccess()
      }
      if (url.endsWith('/issues/3')) regainAccess()
    })
    const run = await sync('?mode=full')
    service.host.onResponse(() => {})
    expect(run).toMatchObject({ status: 'completed', gone: 1 })
    const states = await Promise.all(ids.map(async (id) => (await service.task(id)).sourceState))
    expect(states).toEqual(['present', 'present', 'deleted'])
    const single = service.asked(before).filter((line) => /issues\/\d+$/.test(line))
    expect(single.map((line) => `${line.slice(0, 3)} ${line.at(-1)}`)).toEqual([
      '404 2',
      '404 3',
      '200 2',
      '410 3',
    ])
  })

  test('a full run deletes no comment if the access returns before the repository is asked for', async () => {
    const { id, repository, loseAccess, regainAccess, sync } = await writing()
    const comments = ['Unlisted', 'Deleted', 'Listed'].map((body) => repository.comment(1, { body }))
    await sync()
    const [unlisted, deleted] = comments.map((comment) => ({ ...comment }))
    if (!unlisted || !deleted) throw new Error('The comments are missing.')
    repository.removeComment(unlisted.id)
    repository.removeComment(deleted.id)
    service.host.onResponse(({ url }) => {
      if (url.includes('comments?per_page=100') && !repository.comments.has(unlisted.id)) {
        repository.comments.set(unlisted.id, unlisted)
        loseAccess()
      }
      if (url.endsWith(`/issues/comments/${deleted.id}`)) regainAccess()
    })
    const run = await sync('?mode=full')
    service.host.onResponse(() => {})
    expect(run).toMatchObject({ status: 'completed', comments: { deleted: 1 } })
    expect(await bodiesOf(id)).toEqual(['Unlisted', 'Listed'])
  })

  test('a full run that has lost it between the list and the items marks none as deleted', async () => {
    const { ids, repository, loseAccess, regainAccess, sync } = await writing([{}, {}])
    repository.remove(2)
    service.host.onResponse(({ url }) => {
      if (url.includes('sort=updated') && url.includes('since=')) loseAccess()
    })
    expect(await sync('?mode=full')).toMatchObject({ status: 'failed', gone: 0, error: NO_ACCESS })
    service.host.onResponse(() => {})
    for (const id of ids) expect((await service.task(id)).sourceState).toBe('present')
    regainAccess()
    expect(await sync('?mode=full')).toMatchObject({ status: 'completed', gone: 1 })
  })
})

describe('an item that was marked as gone although it was not', () => {
  test('is present after the next full run, which takes up what was dropped', async () => {
    const { id, repository, sync, written } = await writing()
    repository.remove(1)
    await service.patch(`/api/tasks/${id}`, { status: 'done' })
    await comment(id)
    expect(await settled(service, id)).toMatchObject({
      sourceState: 'deleted',
      writeBack: { state: 'dropped', error: { code: 'issue_deleted' } },
    })
    const refused = await service.post(`/api/tasks/${id}/write-back/retry`)
    expect([refused.status, refused.body.code]).toEqual([409, 'nothing_to_retry'])
    delete repository.items.get(1)?.gone
    await sync('?mode=full')
    expect(await settled(service, id)).toMatchObject({
      status: 'done',
      sourceState: 'present',
      writeBack: { state: 'done', error: null },
    })
    expect(written().map(([method]) => method)).toEqual(['PATCH', 'POST'])
    expect(repository.items.get(1)?.state).toBe('closed')
  })
})

describe('a posted comment that is missing when its edit or deletion is written', () => {
  test.each(['edited', 'deleted'] as const)(
    'but can be read was not deleted: %s, the write fails',
    async (how) => {
      const { id, repository, regainAccess } = await writing()
      const created = (await comment(id)).body
      await settled(service, id)
      const isWrite = ({ method, url }: { method: string; url: string }) =>
        method !== 'GET' && url.includes(`/${repository.id}/issues/comments/`)
      service.host.fault({ status: 404, body: '{"message":"Not Found"}' }, { times: 1, matches: isWrite })
      if (how === 'edited') await service.patch(`/api/comments/${created.id}`, { body: 'Edited here' })
      else await service.delete(`/api/comments/${created.id}`)
      expect((await settled(service, id)).writeBack).toMatchObject({
        state: 'failed',
        error: { code: 'codehost_access_denied', message: expect.stringContaining('cannot write') },
      })
      regainAccess()
      await service.post(`/api/tasks/${id}/write-back/retry`)
      expect((await settled(service, id)).writeBack).toEqual({ state: 'done', error: null })
      const [posted] = repository.comments.values()
      if (how === 'edited') expect(posted?.body).toContain('Edited here')
      else expect(posted).toBeUndefined()
    },
  )

  test('was not deleted if the access returns before its item is asked for: the write fails', async () => {
    const { id, repository, loseAccess, regainAccess } = await writing()
    const created = (await comment(id)).body
    await settled(service, id)
    let isSent = false
    service.host.onResponse(({ method, url }) => {
      const isComment = url.includes('/issues/comments/')
      if (isComment && method === 'PATCH') isSent = true
      if (!isSent && url.endsWith('/issues/1')) loseAccess()
      if (isComment && method === 'GET') regainAccess()
    })
    await service.patch(`/api/comments/${created.id}`, { body: 'Edited here' })
    const { writeBack } = await settled(service, id)
    service.host.onResponse(() => {})
    expect(writeBack).toMatchObject({ state: 'failed', error: { code: 'codehost_access_denied' } })
    regainAccess()
    await service.post(`/api/tasks/${id}/write-back/retry`)
    expect((await settled(service, id)).writeBack).toEqual({ state: 'done', error: null })
    const [posted] = repository.comments.values()
    expect(posted?.body).toContain('Edited here')
  })
})
