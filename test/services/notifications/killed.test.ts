import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, test, vi } from 'vitest'
import { notifyAll } from '../../support/notifications.ts'
import { person } from '../../support/people.ts'
import { startTwoInstances } from '../../support/two-instances.ts'

const TASKS = 1_000
const script = fileURLToPath(new URL('../../support/sync-process.ts', import.meta.url))

test('a bulk change of 1,000 tasks tells once of each, in steps, also after a SIGKILL and on two instances', {
  timeout: 120_000,
}, async () => {
  const instances = await startTwoInstances()
  const { service, second } = instances
  const ada = await person(service)
  const { inbox } = await service.given.project()
  for (let start = 0; start < TASKS; start += 100) {
    const tasks = Array.from({ length: 100 }, (_, n) => ({ title: `Task ${start + n}` }))
    const { body } = await service.post('/api/tasks/bulk', { listId: inbox.id, tasks })
    const ids = body.data.map(({ id }: { id: string }) => id)
    await service.patch('/api/tasks/bulk', { ids, change: { assignees: [ada.username] } })
  }
  await service.service.sequencer.catchUp()
  const countAll = async () => Number((await service.query('select count(*) from notifications'))[0].count)

  const child = fork(script, [service.connectionString, 'http://127.0.0.1:9'], { stdio: 'ignore' })
  await vi.waitFor(async () => expect(await countAll()).toBeGreaterThan(0), { timeout: 60_000, interval: 1 })
  child.kill('SIGKILL')
  await once(child, 'exit')

  await Promise.all([notifyAll(service), notifyAll(second)])
  await notifyAll(service)
  const all = await service.query(
    'select count(*)::integer, count(distinct task_id)::integer as tasks, max(count) as most from notifications',
  )
  expect(all).toEqual([{ count: TASKS, tasks: TASKS, most: 1 }])
  expect((await service.get('/api/notifications/unread', ada.with)).body).toEqual({ count: TASKS })
  await instances.close()
})
