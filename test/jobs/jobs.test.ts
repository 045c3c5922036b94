import { pino } from 'pino'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { startJobs } from '../../src/jobs/index.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { claiming } from '../support/claims.ts'

let service: TestApp
beforeAll(async () => {
  service = await startApp()
})
afterAll(() => service.close())

const logger = pino({ level: 'silent' })
const start = (app: TestApp) => startJobs({ services: app.service, logger })

test('many instances start their workers at once, one of them cleans up, and they stop', async () => {
  const jobs = [start(service), start(service), start(service)]
  await vi.waitFor(
    async () => {
      const [row] = await service.query(
        `select number, lease_until > now() + interval '9 minutes' as "isDone" from leases where name = 'cleanup'`,
      )
      expect(row).toEqual({ number: '1', isDone: true })
    },
    { timeout: 30_000, interval: 100 },
  )
  await Promise.all(jobs.map((each) => each.stop()))
})

test('last-used times are written at the latest when the worker stops', async () => {
  const key = await service.given.key({ name: 'used' })
  const jobs = start(service)
  await service.get('/api/me', { key })
  await jobs.stop()
  const [row] = await service.query("select last_used_at from api_keys where name = 'used'")
  expect(row.last_used_at).not.toBeNull()
})

test('the open counts are aggregated', async () => {
  const project = await service.given.project()
  await service.given.task(project.inbox)
  const jobs = start(service)
  await vi.waitFor(
    async () => {
      const [row] = await service.query('select open_count from lists where id = $1', [project.inbox.id])
      expect(row.open_count).toBe(1)
    },
    { timeout: 30_000, interval: 100 },
  )
  await jobs.stop()
})

test('a task whose lease is over is opened', async () => {
  const given = claiming(service)
  const { claimed } = await given.project()
  const { id } = await claimed()
  await given.expire(id)
  const jobs = start(service)
  await vi.waitFor(
    async () => {
      const [row] = await service.query('select status, claimed_by_type from tasks where id = $1', [id])
      expect(row).toEqual({ status: 'open', claimed_by_type: null })
    },
    { timeout: 30_000, interval: 100 },
  )
  expect((await given.activityOf(id)).at(-1)?.type).toBe('task.claim_expired')
  await jobs.stop()
})

test('the text of tasks is indexed for searches', async () => {
  const project = await service.given.project()
  await service.given.task(project.inbox)
  const jobs = start(service)
  await vi.waitFor(async () => expect(await service.query('select from task_text_changes')).toEqual([]), {
    timeout: 30_000,
    interval: 100,
  })
  await jobs.stop()
})

test('a table that a burst has filled is analyzed before autovacuum comes', async () => {
  await service.query('alter table tasks set (autovacuum_enabled = off)')
  const { inbox } = await service.given.project()
  const tasks = Array.from({ length: 100 }, (_, n) => ({ title: `Task ${n}` }))
  for (let n = 0; n < 6; n++) await service.post('/api/tasks/bulk', { listId: inbox.id, tasks })
  const jobs = start(service)
  await vi.waitFor(
    async () => {
      const known = await service.query(
        `select null_frac > 0.9 as is from pg_stats where tablename = 'tasks' and attname = 'deleted_at'`,
      )
      expect(known).toEqual([{ is: true }])
    },
    { timeout: 30_000, interval: 100 },
  )
  await jobs.stop()
})
