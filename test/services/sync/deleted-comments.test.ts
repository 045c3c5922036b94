import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { syncedComments } from '../../support/synced-comments.ts'
import { type Syncing, startSyncing } from '../../support/syncing.ts'

let service: Syncing
beforeAll(async () => {
  service = await startSyncing()
})
afterAll(() => service.close())

const { withComments, commentsOf, bodiesOf, activityOf } = syncedComments(() => service)

describe('comments of the code host', () => {
  test('are deleted by a full run, once the code host confirms each twice', async () => {
    const connected = await withComments(2)
    const { repository, sync } = connected
    const ids = Array.from({ length: 250 }, (_, i) => repository.comment(1 + (i % 2), { body: `${i}` }).id)
    await sync()
    const gone = [0, 1, 120, 199, 200, 249]
    for (const index of gone) repository.removeComment(ids[index] as bigint)
    expect((await sync()).comments).toMatchObject({ deleted: 0 })
    const before = service.host.requests.length
    const run = await sync('?mode=full')
    expect(run).toMatchObject({ status: 'completed', comments: { created: 0, updated: 0, deleted: 6 } })
    const single = service.asked(before).filter((line) => /comments\/\d+$/.test(line))
    expect(single.map((line) => line.slice(0, 3))).toEqual([...gone, ...gone].map(() => '404'))
    const left = (await bodiesOf(connected)).map(Number).sort((a, b) => a - b)
    expect(left).toEqual(ids.flatMap((_, index) => (gone.includes(index) ? [] : index)))
    expect((await commentsOf(connected)).map(({ comment_count }) => comment_count)).toContain(122)
    expect(await activityOf(connected, 'comment.deleted')).toHaveLength(6)
    expect((await sync('?mode=full')).comments).toEqual({ created: 0, updated: 0, deleted: 0 })
  })

  test('that moved to an earlier page while it was listed are not deleted', async () => {
    const connected = await withComments(1)
    const { repository, sync, project } = connected
    const ids = Array.from({ length: 150 }, () => repository.comment(1).id)
    await sync()
    let isRemoved = false
    service.host.onResponse(({ url }) => {
      if (isRemoved || !url.includes('comments?per_page=100')) return
      isRemoved = true
      repository.removeComment(ids[50] as bigint)
    })
    await sync('?mode=full')
    service.host.onResponse(() => {})
    const count = async () => (await service.tasksOf(project.id)).get(1).comment_count
    expect(await count()).toBe(150)
    await sync('?mode=full')
    expect(await count()).toBe(149)
  })

  test('on items that were deleted or transferred stay, and so do those written here', async () => {
    const connected = await withComments(3)
    const { repository, sync, project } = connected
    for (const number of [1, 2, 3]) repository.comment(number)
    await sync()
    const tasks = await service.tasksOf(project.id)
    await service.post(`/api/tasks/${tasks.get(3).id}/comments`, { body: 'Written here' })
    repository.remove(1, 'deleted')
    repository.remove(2, 'transferred')
    expect(await sync('?mode=full')).toMatchObject({ gone: 2, comments: { deleted: 0 } })
    expect((await commentsOf(connected)).map(({ number }) => number)).toEqual([1, 2, 3, 3])
  })

  test('keep nothing that the host deleted when the list is cut short or unreadable', async () => {
    const connected = await withComments(1)
    for (let i = 0; i < 120; i++) connected.repository.comment(1)
    await connected.sync()
    const isSecond = ({ url }: { url: string }) => /comments\?per_page=100&page=2/.test(url)
    service.host.fault({ status: 200, body: '[]' }, { times: 3, matches: isSecond })
    expect(await connected.sync('?mode=full')).toMatchObject({ status: 'failed' })
    service.host.heal()
    service.host.fault({ status: 200, body: '[{"id":1}]' }, { times: 3, matches: isSecond })
    expect(await connected.sync('?mode=full')).toMatchObject({
      status: 'failed',
      error: { code: 'codehost_unreachable' },
    })
    service.host.heal()
    expect(await bodiesOf(connected)).toHaveLength(120)
    expect(await connected.sync('?mode=full')).toMatchObject({ status: 'completed' })
  })
})
