import { pino } from 'pino'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { startJobs } from '../../src/jobs/index.ts'
import type { TestApp } from '../support/app.ts'
import { sourceOf } from '../support/sources.ts'
import { typesOf } from '../support/status.ts'
import { startTwoInstances, type TwoInstances } from '../support/two-instances.ts'

let instances: TwoInstances
let service: TestApp
beforeAll(async () => {
  instances = await startTwoInstances({ env: { ENCRYPTION_KEY: 'ab'.repeat(32) } })
  ;({ service } = instances)
})
afterAll(() => instances.close())

const start = ({ service: services }: TestApp) => startJobs({ services, logger: pino({ level: 'silent' }) })

test('two instances show within seconds what one of them has received, and log it once', async () => {
  const jobs = [start(service), start(instances.second)]
  const { source, send } = await sourceOf(service)
  const stateAt = async ({ get }: TestApp) =>
    (await get('/api/status')).body.data.find(({ id }: { id: string }) => id === source.id).state
  const untilState = (state: string) =>
    vi.waitFor(
      async () => expect(await Promise.all([service, instances.second].map(stateAt))).toEqual([state, state]),
      {
        timeout: 5_000,
        interval: 50,
      },
    )
  await send('{')
  await untilState('failing')
  await send({ title: 'One' })
  await untilState('ok')
  const pipe = { kind: 'source', id: source.id } as const
  await vi.waitFor(
    async () => expect(await typesOf(service, pipe)).toEqual(['pipe.failed', 'pipe.recovered']),
    {
      timeout: 5_000,
      interval: 50,
    },
  )
  await Promise.all(jobs.map((each) => each.stop()))
})

test('what was counted is stored at the latest when the worker stops', async () => {
  const { source, send } = await sourceOf(service)
  const jobs = start(service)
  await send({ title: 'One' })
  await jobs.stop()
  expect(await service.query('select succeeded from pipe_hours where id = $1', [source.id])).toEqual([
    { succeeded: 1 },
  ])
})
