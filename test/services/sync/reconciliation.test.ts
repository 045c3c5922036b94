import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type Syncing, startSyncing, sumOf } from '../../support/syncing.ts'

let service: Syncing
beforeAll(async () => {
  service = await startSyncing()
})
afterAll(() => service.close())

describe('a full reconciliation', () => {
  test('requests missing items one by one, and twice before they count as deleted; their tasks stay and show what happened', async () => {
    const { project, repository, sync } = await service.connected({}, 30)
    await sync()
    repository.remove(3, 'deleted')
    repository.remove(4, 'transferred')
    repository.remove(5, 'unseen')
    const since = service.host.requests.length
    const run = await sync('?mode=full')
    expect(run).toMatchObject({ status: 'completed', mode: 'full', fetched: 27, gone: 3 })
    expect(sumOf(run)).toBe(27)
    const single = service.asked(since).filter((line) => /issues\/\d+$/.test(line))
    expect(single.map((line) => line.split(' ')[0])).toEqual(['410', '301', '404', '410', '404'])
    const tasks = await service.tasksOf(project.id)
    expect(tasks.size).toBe(30)
    expect([3, 4, 5, 6].map((number) => tasks.get(number).source_state)).toEqual([
      'deleted',
      'transferred',
      'deleted',
      'present',
    ])
    const again = service.host.requests.length
    expect(await sync('?mode=full')).toMatchObject({ gone: 0 })
    expect(service.asked(again).filter((line) => /issues\/\d+$/.test(line))).toEqual([])
  })

  test('stores what the listing missed, and what was restored', async () => {
    const { project, repository, sync } = await service.connected({}, 10)
    await sync()
    repository.remove(2)
    await sync('?mode=full')
    const back = repository.items.get(2)
    if (back) delete back.gone
    const run = await sync('?mode=full')
    expect(run).toMatchObject({ fetched: 10, issues: { updated: 1 } })
    expect((await service.tasksOf(project.id)).get(2).source_state).toBe('present')
  })

  test('finds what changed between two pages of the listing', async () => {
    const { project, repository, sync } = await service.connected({}, 150)
    await sync()
    // Once the first page is out, one of it goes: number 101 moves onto that page unseen.
    service.host.onResponse(({ url }) => {
      if (url.includes('sort=created') && url.includes(`/${repository.id}/`)) repository.remove(50)
    })
    const run = await sync('?mode=full')
    service.host.onResponse(() => {})
    expect(run).toMatchObject({ status: 'completed', fetched: 150, gone: 0 })
    expect((await sync('?mode=full')).gone).toBe(1)
    expect((await service.tasksOf(project.id)).get(101).source_state).toBe('present')
  })

  test('of three items finds that one was deleted', async () => {
    const { project, repository, sync } = await service.connected({}, 3)
    await sync()
    repository.remove(2)
    expect(await sync('?mode=full')).toMatchObject({ status: 'completed', fetched: 2, gone: 1 })
    expect((await service.tasksOf(project.id)).get(2).source_state).toBe('deleted')
    expect(await sync('?mode=full')).toMatchObject({ status: 'completed', gone: 0 })
  })

  test('of a repository whose few items are all deleted finds that they are', async () => {
    const { project, repository, sync } = await service.connected({}, 3)
    await sync()
    for (const number of [1, 2, 3]) repository.remove(number)
    expect(await sync('?mode=full')).toMatchObject({ status: 'completed', fetched: 0, gone: 3 })
    const tasks = await service.tasksOf(project.id)
    expect([...tasks.values()].map(({ source_state }) => source_state)).toEqual(Array(3).fill('deleted'))
    expect(await sync()).toMatchObject({ status: 'completed', fetched: 0 })
  })

  test('is aborted when more than ten and more than a fifth are missing, and changes nothing', async () => {
    const { project, repository, sync } = await service.connected({}, 20)
    await sync()
    for (let number = 1; number <= 11; number++) repository.remove(number)
    const run = await sync('?mode=full')
    expect(run).toMatchObject({
      status: 'failed',
      gone: 0,
      error: { code: 'reconciliation_aborted', message: expect.stringContaining('11 of 20') },
    })
    const tasks = await service.tasksOf(project.id)
    expect([...tasks.values()].every(({ source_state }) => source_state === 'present')).toBe(true)
    expect(tasks.size).toBe(20)
  })

  test('is aborted when the listing becomes empty, and keeps everything', async () => {
    const { project, repository, sync } = await service.connected({}, 20)
    await sync()
    repository.items.clear()
    const run = await sync('?mode=full')
    expect(run).toMatchObject({ status: 'failed', error: { code: 'reconciliation_aborted' } })
    const tasks = await service.tasksOf(project.id)
    expect([...tasks.values()].filter(({ source_state }) => source_state === 'present')).toHaveLength(20)
  })

  test.each([
    ['the whole repository can no longer be seen', 404, 'codehost_repository_not_found'],
    ['its issues are turned off', 410, 'codehost_access_denied'],
  ])('marks nothing as deleted when %s halfway', async (_, status, code) => {
    const { project, repository, sync } = await service.connected({}, 30)
    await sync()
    for (const number of [3, 4, 5]) repository.remove(number)
    let isLost = false
    const hasResponse = ({ url }: { url: string }) => (isLost ||= /issues\/4$/.test(url))
    service.host.fault(
      { status, body: '{"message":"Not to be seen"}' },
      { times: 1_000, matches: hasResponse },
    )
    const run = await sync('?mode=full')
    service.host.heal()
    expect(isLost).toBe(true)
    expect(run).toMatchObject({ status: 'failed', gone: 0, error: { code } })
    const tasks = await service.tasksOf(project.id)
    expect([...tasks.values()].every(({ source_state }) => source_state === 'present')).toBe(true)
    // Once it can be seen again, the next one finds what is really gone.
    expect(await sync('?mode=full')).toMatchObject({ status: 'completed', gone: 3 })
  })

  test('checks many missing items with few requests per hour', async () => {
    const { project, repository, sync } = await service.connected({}, 300)
    await sync()
    for (let number = 1; number <= 50; number++) repository.remove(number)
    let asked = 0
    // After twenty-four it is over for a while, again and again.
    const isTooMany = ({ url }: { url: string }) => /issues\/\d+$/.test(url) && ++asked % 25 === 0
    service.host.fault({ status: 429, headers: { 'retry-after': '1' } }, { times: 1_000, matches: isTooMany })
    const run = await sync('?mode=full')
    await vi.waitFor(
      async () => {
        const { body } = await service.get(`/api/codehost/${project.id}/syncs/${run.id}`)
        expect(body).toMatchObject({ status: 'completed', gone: 50 })
      },
      { timeout: 60_000, interval: 100 },
    )
    service.host.heal()
    expect(asked).toBeGreaterThan(50)
  }, 90_000)
})
