import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { commentDelivery } from '../../support/code-host-comments.ts'
import { deliver, itemDelivery } from '../../support/code-host-deliveries.ts'
import { type Syncing, startSyncing } from '../../support/syncing.ts'
import { settled } from '../../support/writing-back.ts'

let service: Syncing
beforeAll(async () => {
  service = await startSyncing()
})
afterEach(() => service.host.onResponse(() => {}))
afterAll(() => service.close())

/** A task whose issue is changed twice within a second, while it is read: the second change comes by push. */
async function changedTwice() {
  const token = randomUUID()
  service.host.tokens.set(token, {})
  const { project, repository, sync } = await service.connected({ token, writeBack: 'comments' }, 2)
  await sync()
  const path = `/api/projects/${project.id}/codehost`
  const webhook = (await service.post(`${path}/webhook-secret`)).body
  const { about } = repository
  const title = async () => (await service.tasksOf(project.id)).get(1).title
  repository.change(1, { title: 'First' })
  const asked: string[] = []
  const whenRead = (url: RegExp) =>
    service.host.onResponse(async (request) => {
      if (!request.url.includes(`/${repository.id}/`) || !url.test(request.url)) return
      asked.push(request.url)
      if (asked.length > 1) return
      const item = repository.change(1, { title: 'Second' }, 0)
      const edited = itemDelivery(item, { api: service.host.url, repository: about, action: 'edited' })
      expect((await deliver(webhook, edited)).status).toBe(202)
      await vi.waitFor(async () => expect(await title()).toBe('Second'), 10_000)
    })
  return { project, sync, title, whenRead, asked }
}

test('a page that was read before is read again', async () => {
  const { sync, title, whenRead, asked } = await changedTwice()
  whenRead(/issues\?.*since=/)
  expect((await sync()).status).toBe('completed')
  expect(await title()).toBe('Second')
  expect(asked).toHaveLength(2)
  const before = service.host.requests.length
  await sync()
  expect(service.asked(before)).toEqual([expect.stringMatching(/^304 /)])
})

test('a page of a full run that was read before is read again', async () => {
  const { sync, title, whenRead } = await changedTwice()
  whenRead(/issues\?.*sort=created/)
  expect(await sync('?mode=full')).toMatchObject({ status: 'completed', fetched: 2 })
  expect(await title()).toBe('Second')
})

test('an issue that was read before something is written is read again', async () => {
  const { project, title, whenRead, asked } = await changedTwice()
  const { id } = (await service.tasksOf(project.id)).get(1)
  whenRead(/issues\/1$/)
  await service.post(`/api/tasks/${id}/comments`, { body: 'Hello', isPublic: true })
  await settled(service, id)
  expect(await title()).toBe('Second')
  expect(asked).toHaveLength(2)
})

test('a page of comments that was read before is read again', async () => {
  const { project, repository, sync } = await service.connected({ comments: true }, 2)
  repository.comment(2)
  await sync()
  const webhook = (await service.post(`/api/projects/${project.id}/codehost/webhook-secret`)).body
  const { id } = repository.comment(1, { body: 'First' })
  const task = (await service.tasksOf(project.id)).get(1)
  const bodies = async () =>
    (await service.get(`/api/tasks/${task.id}/comments`)).body.data.map(({ body }: { body: string }) => body)
  const asked: string[] = []
  service.host.onResponse(async ({ url }) => {
    if (!url.includes(`/${repository.id}/issues/comments?`)) return
    asked.push(url)
    if (asked.length > 1) return
    const about = { api: service.host.url, repository: repository.about }
    const edited = commentDelivery(repository.edit(id, { body: 'Second' }, 0), { ...about, action: 'edited' })
    expect((await deliver(webhook, edited)).status).toBe(202)
    await vi.waitFor(async () => expect(await bodies()).toEqual(['Second']), 10_000)
  })
  expect((await sync()).status).toBe('completed')
  expect(await bodies()).toEqual(['Second'])
  expect(asked).toHaveLength(2)
})
