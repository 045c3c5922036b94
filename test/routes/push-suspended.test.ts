import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { commentDelivery, type HostComment } from '../support/code-host-comments.ts'
import { deliver, type HostDelivery, itemDelivery } from '../support/code-host-deliveries.ts'
import type { HostItem } from '../support/code-host-items.ts'
import { type Syncing, startSyncing } from '../support/syncing.ts'
import { applied, POLLING } from '../support/writing-back.ts'

let service: Syncing
beforeAll(async () => {
  service = await startSyncing()
})
afterAll(() => service.close())

/** A project with an issue and a comment on it, both reported by deliveries. */
async function pushed(issue: Partial<HostItem> = {}) {
  const { project, repository } = await service.connected({ comments: true })
  const webhook = (await service.post(`/api/projects/${project.id}/codehost/webhook-secret`)).body
  const about = { api: service.host.url, repository: repository.about }
  const send = async (delivery: HostDelivery) => expect((await deliver(webhook, delivery)).status).toBe(202)
  const sendItem = (item: HostItem, action: string) => send(itemDelivery(item, { ...about, action }))
  const sendComment = (comment: HostComment, action: 'created' | 'deleted') =>
    send(commentDelivery(comment, { ...about, action }))
  const item = repository.issue(issue)
  await sendItem(item, 'opened')
  const comment = repository.comment(1, issue.updatedAt ? { updatedAt: issue.updatedAt } : {})
  Object.assign(item, issue)
  await sendComment(comment, 'created')
  await applied(service, project.id)
  return {
    project,
    repository,
    item,
    comment,
    sendItem,
    sendComment,
    task: async () => (await service.tasksOf(project.id)).get(1),
    inbox: async () => (await service.get(`/api/deliveries?projectId=${project.id}`)).body.data,
    asked: () => service.asked().filter((line) => line.includes(`/repositories/${repository.id}/issues/`)),
  }
}

describe('a deletion that is reported while the project is archived', () => {
  test.each(['an issue', 'a comment'])('of %s is applied once it is unarchived', async (subject) => {
    const { project, repository, item, comment, sendItem, sendComment, task, inbox } = await pushed()
    await service.post(`/api/projects/${project.id}/archive`)
    if (subject === 'an issue') await sendItem(item, 'deleted')
    else await sendComment(repository.removeComment(comment.id), 'deleted')
    await sendItem(repository.issue(), 'opened')
    await vi.waitFor(
      async () =>
        expect((await inbox()).slice(0, 2)).toMatchObject([
          { outcome: 'ignored', reason: 'project_archived' },
          { outcome: 'pending', event: expect.stringMatching(/\.deleted$/), attempts: 0 },
        ]),
      POLLING,
    )
    expect(await task()).toMatchObject({ source_state: 'present', comment_count: 1 })

    await service.post(`/api/projects/${project.id}/unarchive`)

    await applied(service, project.id)
    expect(await task()).toMatchObject(
      subject === 'an issue' ? { source_state: 'deleted' } : { source_state: 'present', comment_count: 0 },
    )
  })
})

test.each(['at the code host', 'here'])(
  'a replay of an old delivery does not reopen what is done since %s',
  async (where) => {
    const { project, repository, sendItem, task, inbox } = await pushed()
    const old = (await inbox()).find(({ event }: { event: string }) => event === 'issues.opened')
    if (where === 'here') await service.patch(`/api/tasks/${(await task()).id}`, { status: 'done' })
    else await sendItem(repository.close(1), 'closed')
    await applied(service, project.id)
    expect((await task()).status).toBe('done')
    const replay = await service.post(`/api/deliveries/${old.id}/replay`)
    expect(replay.status).toBe(200)
    await applied(service, project.id)
    expect((await task()).status).toBe('done')
  },
)

test('a delivery with a time in the future is asked for, and hides no later change', async () => {
  const { project, repository, sendItem, task, asked } = await pushed({ updatedAt: Date.now() + 86_400_000 })
  expect(asked().length).toBeGreaterThan(0)
  const since = asked().length
  await sendItem(repository.change(1, { title: 'Later', updatedAt: Date.now() + 2_000 }), 'edited')
  await applied(service, project.id)
  expect((await task()).title).toBe('Later')
  expect(asked()).toHaveLength(since)
})
