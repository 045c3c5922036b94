import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type Syncing, startSyncing } from '../../support/syncing.ts'
import { attempted, POLLING, settled, writingBack, writingComments } from '../../support/writing-back.ts'

let service: Syncing
beforeAll(async () => {
  service = await startSyncing()
})
afterAll(() => service.close())

const writing = () => writingBack(service, [{}], { writeBack: 'comments', comments: true })

describe('a redirect', () => {
  const redirectTo = (location: string, path: string) =>
    service.host.fault(
      { status: 301, headers: { location }, body: '{}' },
      { times: 100, matches: ({ url }) => url.endsWith(path) },
    )

  test.each([
    ['another host', () => 'https://login.example/repositories/9999/issues/1'],
    ['another host, by name', () => 'https://login.example/repos/other/repository/issues/7'],
    ['the same entry', (id: number) => `${service.host.url}/repositories/${id}/issues/1`],
    ['another page of the host', () => `${service.host.url}/login`],
  ])('to %s is not a transfer: it is asked again', async (_, locationOf) => {
    const { id, repository } = await writing()
    redirectTo(locationOf(repository.id), `/repositories/${repository.id}/issues/1`)
    await service.patch(`/api/tasks/${id}`, { status: 'done' })
    await vi.waitFor(async () => {
      const { sourceState, writeBack } = await service.task(id)
      expect([sourceState, writeBack.error?.code]).toEqual(['present', 'codehost_unreachable'])
    }, POLLING)
    service.host.heal()
    await service.post(`/api/tasks/${id}/write-back/retry`)
    expect((await settled(service, id)).writeBack).toEqual({ state: 'done', error: null })
    expect(repository.items.get(1)?.state).toBe('closed')
  })

  test.each([
    ['another host', () => 'https://login.example/repositories/9999/issues/comments/1'],
    ['itself', (path: string) => `${service.host.url}${path}`],
  ])('of a comment to %s deletes nothing: it is sent again', async (_, locationOf) => {
    const { id, repository, post, done, listed } = await writingComments(service)
    const comment = await post('Here')
    await done()
    const path = `/repositories/${repository.id}/issues/comments/${[...repository.comments.keys()][0]}`
    redirectTo(locationOf(path), path)
    await service.patch(`/api/comments/${comment.id}`, { body: 'Edited' })
    await attempted(service, id)
    expect((await service.task(id)).writeBack).toMatchObject({
      state: 'pending',
      nextAttemptAt: expect.any(String),
    })
    expect(await listed()).toHaveLength(1)
    service.host.heal()
  })

  test('to an entry of a repository with another id is one, also by its name', async () => {
    const { id, repository } = await writing()
    const target = service.host.repository(`acme/target-of-${repository.id}`)
    redirectTo(`${service.host.url}/repos/${target.name}/issues/7`, `/repositories/${repository.id}/issues/1`)
    await service.patch(`/api/tasks/${id}`, { status: 'done' })
    expect(await settled(service, id)).toMatchObject({
      sourceState: 'transferred',
      writeBack: { state: 'dropped', error: { code: 'issue_transferred' } },
    })
    service.host.heal()
  })

  test('to the repository by its own name is none', async () => {
    const { id, repository } = await writing()
    redirectTo(
      `${service.host.url}/repos/${repository.name}/issues/1`,
      `/repositories/${repository.id}/issues/1`,
    )
    await service.patch(`/api/tasks/${id}`, { status: 'done' })
    await vi.waitFor(
      async () => expect((await service.task(id)).writeBack.error?.code).toBe('codehost_unreachable'),
      POLLING,
    )
    expect((await service.task(id)).sourceState).toBe('present')
    service.host.heal()
  })
})
