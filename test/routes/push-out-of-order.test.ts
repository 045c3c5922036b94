import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { pushedTo } from '../support/pushed.ts'
import { type Syncing, startSyncing } from '../support/syncing.ts'

let service: Syncing
beforeAll(async () => {
  service = await startSyncing()
})
afterAll(() => service.close())

const pushed = (id?: number) => pushedTo(service, id)

describe('a delivery', () => {
  test('that is older than what is stored changes nothing, in whatever order they arrive', async () => {
    const { repository, report, send, applied, asked, tasks } = await pushed()
    const deliveries = [report(repository.issue({ title: 'One' }), 'opened')]
    deliveries.push(report(repository.change(1, { title: 'Two' }), 'edited'))
    deliveries.push(report(repository.change(1, { title: 'Three' }), 'edited'))
    for (const delivery of deliveries.reverse()) {
      await send(delivery)
      await applied()
      expect((await tasks()).get(1).title).toBe('Three')
    }
    expect((await applied()).map(({ reason }) => reason)).toEqual([null, 'outdated', 'outdated'])
    expect((await tasks()).get(1).version).toBe(1)
    expect(asked()).toEqual([])
  })

  test('of the same second as what is stored asks the code host', async () => {
    const { repository, report, send, applied, asked, tasks } = await pushed()
    const item = repository.issue({ title: 'One' })
    const early = report(item, 'opened')
    const late = report(repository.change(1, { title: 'Two' }, 0), 'edited')
    await send(late)
    await applied()
    await send(early)
    expect((await applied()).at(-1)).toMatchObject({ outcome: 'updated', reason: 'unchanged' })
    expect((await tasks()).get(1).title).toBe('Two')
    expect(asked()).toEqual([`200 /repositories/${repository.id}/issues/1`])
  })

  test('of a deletion marks the task, and one from before arriving later does not bring it back', async () => {
    const { repository, report, send, applied, tasks } = await pushed()
    await send(report(repository.issue(), 'opened'))
    await applied()
    const edited = report(repository.change(1, { title: 'Edited' }), 'edited')
    const deleted = report(repository.change(1), 'deleted')
    repository.remove(1)
    await send(deleted)
    await applied()
    expect((await tasks()).get(1)).toMatchObject({ source_state: 'deleted' })
    await send(edited)
    await applied()
    expect((await tasks()).get(1)).toMatchObject({ source_state: 'deleted', title: 'Item 1' })
  })

  test('of an item whose deletion was reported first creates no task', async () => {
    const { repository, report, send, applied, tasks } = await pushed()
    const item = repository.issue()
    const deliveries = [report(item, 'deleted'), report(item, 'opened')]
    repository.remove(1)
    for (const delivery of deliveries) await send(delivery)
    expect((await applied()).map(({ reason }) => reason)).toEqual(['unchanged', 'outdated'])
    expect((await tasks()).size).toBe(0)
  })
})
