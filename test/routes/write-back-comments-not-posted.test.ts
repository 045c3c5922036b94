import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { commentDelivery } from '../support/code-host-comments.ts'
import { deliver, type HostDelivery } from '../support/code-host-deliveries.ts'
import { type Syncing, startSyncing } from '../support/syncing.ts'
import { applied, settled, writingComments } from '../support/writing-back.ts'

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

const textOf = (id: string, body: string) =>
  `<!-- inlet-comment ${id} -->\n**test\\-admin** wrote in Inlet:\n\n${body}`

describe('what is not posted', () => {
  test('are comments that are not public, from before write-back was on, or with write-back of the state', async () => {
    const { post, written, set, done, id } = await writing([{}], { writeBack: 'state' })
    const early = await post('Early')
    await set({ writeBack: 'comments' })
    await service.patch(`/api/comments/${early.id}`, { body: 'Early, edited' })
    await post('Internal', false)
    await service.delete(`/api/comments/${early.id}`)
    expect((await service.get(`/api/tasks/${id}`)).body.writeBack).toBeNull()
    await post('Public')
    await done()
    expect(written()).toHaveLength(1)
  })

  test('are comments of the code host, also those that look like one written here', async () => {
    const { post, repository, sync, listed, done, written } = await writing()
    const own = await post('Mine')
    await done()
    repository.comment(1, { body: textOf(own.id, 'A copy') })
    repository.comment(1, { body: textOf(service.clock.newId(new Date()), 'Made up') })
    await sync()
    expect((await listed()).map(({ author }: { author: { name: string } }) => author.name)).toEqual([
      'bob',
      'bob',
      expect.not.stringMatching(/bob/),
    ])
    expect(written()).toHaveLength(1)
  })

  test('two services on one repository come to rest', async () => {
    const { post, repository, done, project, id } = await writing()
    const other = await service.given.project()
    service.host.tokens.set('other', { login: 'other-bot' })
    const body = {
      repository: repository.name,
      token: 'other',
      writeBack: 'comments',
      comments: true,
      schedule: 'off',
    }
    await service.put(`/api/projects/${other.id}/codehost`, body)
    const both = async () => {
      await service.sync(project.id)
      await service.sync(other.id)
    }
    await both()
    await post('From one')
    await done()
    await both()
    const [theirs] = [...(await service.tasksOf(other.id)).values()]
    await service.post(`/api/tasks/${theirs.id}/comments`, { body: 'From the other', isPublic: true })
    await service.patch(`/api/tasks/${theirs.id}`, { status: 'done' })
    await settled(service, theirs.id)
    await both()
    await both()
    expect((await service.get(`/api/tasks/${id}`)).body).toMatchObject({ status: 'done', commentCount: 2 })
    expect((await service.get(`/api/tasks/${theirs.id}`)).body).toMatchObject({ commentCount: 2 })
    expect(repository.comments.size).toBe(2)
    const waiting = await service.query("select from codehost_writes where status <> 'done'")
    expect(waiting).toEqual([])
  })
})

test('a delivery of a comment that was deleted here is not imported again', async () => {
  const { post, repository, done, path, listed, project } = await writing()
  const webhook = (await service.post(`${path}/webhook-secret`)).body
  const comment = await post('Gone soon')
  await done()
  const [stored] = repository.comments.values()
  const late: HostDelivery = commentDelivery(stored as never, {
    api: service.host.url,
    repository: repository.about,
    action: 'created',
  })
  await service.delete(`/api/comments/${comment.id}`)
  await done()
  await deliver(webhook, late)
  await applied(service, project.id)
  expect(await listed()).toEqual([])
})
