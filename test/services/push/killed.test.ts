import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { pino } from 'pino'
import { expect, test, vi } from 'vitest'
import { startPushWorker } from '../../../src/jobs/push.ts'
import { startApp } from '../../support/app.ts'
import { startCodeHost } from '../../support/code-host.ts'
import { deliver, itemDelivery } from '../../support/code-host-deliveries.ts'

const DELIVERIES = 300
const script = fileURLToPath(new URL('../../support/sync-process.ts', import.meta.url))

test('a delivery survives the SIGKILL of its worker, and two instances apply it once', {
  timeout: 120_000,
}, async () => {
  const host = await startCodeHost()
  const env = { CODEHOST_API_URLS: host.url, ENCRYPTION_KEY: 'ab'.repeat(32) }
  const app = await startApp({ env })
  const repository = host.repository('acme/app')
  const project = await app.given.project()
  const { body } = await app.put(`/api/projects/${project.id}/codehost`, { repository: 'acme/app' })
  const { about } = repository
  for (let number = 1; number <= DELIVERIES; number++) {
    const opened = itemDelivery(repository.issue(), { api: host.url, repository: about, action: 'opened' })
    expect((await deliver(body.webhook, opened)).status).toBe(202)
  }
  const countApplied = async () =>
    Number((await app.query(`select count(*) from deliveries where outcome = 'accepted'`))[0].count)

  const child = fork(script, [app.connectionString, host.url], { stdio: 'ignore' })
  await vi.waitFor(async () => expect(await countApplied()).toBeGreaterThan(0), {
    timeout: 60_000,
    interval: 5,
  })
  child.kill('SIGKILL')
  await once(child, 'exit')

  const other = await startApp({ env, connectionString: app.connectionString })
  const workers = [app, other].map(({ service: { push } }) =>
    startPushWorker({ push, logger: pino({ level: 'silent' }), pollMs: 100 }),
  )
  await vi.waitFor(async () => expect(await countApplied()).toBe(DELIVERIES), { timeout: 60_000 })
  const made = await app.query(
    `select count(*), count(distinct task_id) as tasks from activity where type = 'task.created'`,
  )
  expect(made).toEqual([{ count: String(DELIVERIES), tasks: String(DELIVERIES) }])
  for (const worker of workers) await worker.stop()
  await other.close()
  await app.close()
  await host.close()
})
