import { pino } from 'pino'
import { expect, test } from 'vitest'
import { startJobs } from '../../src/jobs/index.ts'
import type { Overview } from '../../src/schemas/overview.ts'
import { startApp } from '../support/app.ts'

/** The service promises a minute. */
const SOON = { timeout: 60_000, interval: 250 }

test('the overview follows what happens by itself', async () => {
  const service = await startApp()
  const jobs = startJobs({ services: service.service, logger: pino({ level: 'silent' }) })
  const { id: projectId, inbox } = await service.given.project()
  const counts = async () => {
    const { weeks, untriaged }: Overview = (await service.get(`/api/overview?projectId=${projectId}`)).body
    const { opened, closed } = weeks.at(-1) ?? {}
    return { opened: opened?.api, closed: closed?.other, untriaged }
  }
  // From here on, what is there is counted, and only changes are followed.
  expect(await counts()).toEqual({ opened: 0, closed: 0, untriaged: 0 })

  const ids: string[] = []
  for (const title of ['One', 'Two', 'Three'])
    ids.push((await service.post('/api/tasks', { title, listId: inbox.id })).body.id)
  await service.patch(`/api/tasks/${ids[0]}`, { status: 'done' })
  await expect.poll(counts, SOON).toEqual({ opened: 3, closed: 1, untriaged: 2 })

  await service.delete(`/api/tasks/${ids[1]}`)
  await expect.poll(counts, SOON).toEqual({ opened: 2, closed: 1, untriaged: 1 })
  await jobs.stop()
  await service.close()
}, 150_000)
