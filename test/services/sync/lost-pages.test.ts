import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type Syncing, startSyncing } from '../../support/syncing.ts'

let service: Syncing
beforeAll(async () => {
  service = await startSyncing()
})
afterEach(() => service.host.heal())
afterAll(() => service.close())

const LOST = { status: 422, body: '{"message":"Validation Failed"}' }
const at = (part: string, id: number) => ({
  matches: ({ url }: { url: string }) => url.includes(`/repositories/${id}/`) && url.includes(part),
})

describe('a page whose URL the code host no longer knows', () => {
  test('at the end of the last run lets the next one start from the time of its changes', async () => {
    const { project, repository, sync } = await service.connected({}, 350)
    await sync()
    service.host.advance(60)
    // Of one second: the last URL is that of a later page.
    for (let number = 1; number <= 350; number++) repository.change(number, { title: 'Same second' }, 0)
    expect(await sync()).toMatchObject({ status: 'completed' })
    const last = service.host.requests.at(-1)?.url ?? ''
    expect(last).toContain('&page=')
    service.host.fault(LOST, { times: 1, ...at(last.slice(last.indexOf('?')), repository.id) })
    repository.change(7, { title: 'Later' })
    expect(await sync()).toMatchObject({ status: 'completed', error: null })
    expect((await service.tasksOf(project.id)).get(7).title).toBe('Later')
  })

  test('in the listing lets the run list everything again, and count nothing twice', async () => {
    const { project, repository, sync } = await service.connected({}, 350)
    service.host.fault(LOST, { times: 1, ...at('&page=3', repository.id) })
    expect(await sync()).toMatchObject({ status: 'completed', fetched: 350 })
    expect((await service.tasksOf(project.id)).size).toBe(350)
  })

  test('in the listing of comments lets the run list all of them again', async () => {
    const { project, repository, sync } = await service.connected({ comments: true }, 1)
    for (let i = 0; i < 150; i++) repository.comment(1)
    service.host.fault(LOST, { times: 1, ...at('comments?', repository.id), ...isLaterPage })
    expect(await sync()).toMatchObject({ status: 'completed', comments: { created: 150 } })
    expect((await service.tasksOf(project.id)).get(1).comment_count).toBe(150)
  })

  test('fails the run if it is lost again, and the next one starts again', async () => {
    const { repository, sync } = await service.connected({}, 250)
    service.host.fault(LOST, { times: 2, ...at('&page=2', repository.id) })
    const since = service.host.requests.length
    const run = await sync()
    expect(run).toMatchObject({ status: 'failed', fetched: 100, error: { code: 'codehost_access_denied' } })
    expect(run.error.message).toMatch(/422/)
    expect(service.asked(since).filter((line) => line.includes('&page=2'))).toHaveLength(2)
    expect(await sync()).toMatchObject({ status: 'completed' })
  })
})

const isLaterPage = {
  matches: ({ url }: { url: string }) => url.includes('/comments?') && url.includes('&page=2'),
}

describe('pages that lead back', () => {
  const linked = (repository: { id: number }, [page, to]: [number, string]) =>
    service.host.fault(
      {
        status: 200,
        headers: { link: `<${service.host.url}/repositories/${repository.id}/issues?${to}>; rel="next"` },
        body: '[{"number":1}]',
      },
      { times: 50, ...at(`&page=${page}`, repository.id) },
    )

  test.each([
    ['to themselves', [[2, 'x=1&page=2']]],
    [
      'in a circle of two',
      [
        [2, 'x=1&page=3'],
        [3, 'x=1&page=2'],
      ],
    ],
    [
      'in a circle of three',
      [
        [2, 'x=1&page=3'],
        [3, 'x=1&page=4'],
        [4, 'x=1&page=2'],
      ],
    ],
  ] as [string, [number, string][]][])('%s end the run as failed', async (_, links) => {
    const { repository, sync } = await service.connected({}, 150)
    for (const link of links) linked(repository, link)
    const since = service.host.requests.length
    const run = await sync()
    expect(run).toMatchObject({ status: 'failed', error: { code: 'codehost_unreachable' } })
    expect(run.error.message).toMatch(/next one|lead back/)
    expect(service.host.requests.length - since).toBeLessThan(20)
  })
})

describe('a listing that fails', () => {
  const BROKEN = { status: 502, body: '' }

  test('is continued by the next run, which reads no page again', async () => {
    const { project, repository, sync } = await service.connected({}, 350)
    service.host.fault(BROKEN, { times: 3, ...at('&page=3', repository.id) })
    expect(await sync()).toMatchObject({ status: 'failed', fetched: 200 })
    repository.change(5, { title: 'Changed meanwhile' })
    const since = service.host.requests.length
    expect(await sync()).toMatchObject({ status: 'completed' })
    const listed = service.asked(since).filter((line) => line.includes('sort=created'))
    expect(listed.map((line) => /&page=(\d)/.exec(line)?.[1])).toEqual(['3', '4'])
    const tasks = await service.tasksOf(project.id)
    expect([tasks.size, tasks.get(5).title]).toEqual([350, 'Changed meanwhile'])
  })

  test('of comments is continued as well', async () => {
    const { project, repository, sync } = await service.connected({ comments: true }, 1)
    for (let i = 0; i < 250; i++) repository.comment(1)
    service.host.fault(BROKEN, {
      times: 3,
      matches: ({ url }) => url.includes(`/${repository.id}/issues/comments?`) && url.includes('&page=3'),
    })
    expect(await sync()).toMatchObject({ status: 'failed' })
    const since = service.host.requests.length
    expect(await sync()).toMatchObject({ status: 'completed' })
    const listed = service
      .asked(since)
      .filter((line) => line.includes('/comments?') && !line.includes('since='))
    expect(listed.map((line) => /&page=(\d)/.exec(line)?.[1])).toEqual(['3'])
    expect((await service.tasksOf(project.id)).get(1).comment_count).toBe(250)
  })

  test('is started again by a full run, which has to see every item', async () => {
    const { repository, sync } = await service.connected({}, 250)
    service.host.fault(BROKEN, { times: 3, ...at('&page=2', repository.id) })
    expect(await sync()).toMatchObject({ status: 'failed', fetched: 100 })
    expect(await sync('?mode=full')).toMatchObject({ status: 'completed', fetched: 250, gone: 0 })
  })
})

describe('an item that was updated in the future', () => {
  const DAY_MS = 86_400_000
  const tomorrow = () => Date.now() + DAY_MS

  test('hides no later change, of itself or of others', async () => {
    const { project, repository, sync } = await service.connected({}, 3)
    repository.change(3, { title: 'Of tomorrow', updatedAt: tomorrow() })
    await sync()
    repository.change(1, { title: 'Changed today', updatedAt: Date.now() })
    repository.change(3, { title: 'Mended', updatedAt: Date.now() })
    expect(await sync()).toMatchObject({ status: 'completed', issues: { updated: 2 } })
    const tasks = await service.tasksOf(project.id)
    expect([tasks.get(1).title, tasks.get(3).title]).toEqual(['Changed today', 'Mended'])
  })

  test('is read once a run, also if more than a page of them are', async () => {
    const { project, repository, sync } = await service.connected({}, 250)
    await sync()
    for (let number = 1; number <= 250; number++)
      repository.change(number, { title: 'Of tomorrow', updatedAt: tomorrow() + number * 1_000 })
    const since = service.host.requests.length
    expect(await sync()).toMatchObject({ status: 'completed' })
    expect(service.host.requests.length - since).toBeLessThan(8)
    repository.change(9, { title: 'Mended', updatedAt: Date.now() })
    await sync()
    const tasks = await service.tasksOf(project.id)
    expect([tasks.get(8).title, tasks.get(9).title]).toEqual(['Of tomorrow', 'Mended'])
  })
})
