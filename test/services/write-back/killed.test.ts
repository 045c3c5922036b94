import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, test, vi } from 'vitest'
import { startApp } from '../../support/app.ts'
import { startCodeHost } from '../../support/code-host.ts'
import { passTime } from '../../support/database-clock.ts'

const script = fileURLToPath(new URL('../../support/sync-process.ts', import.meta.url))

/** The point in a write at which its process is killed: the request that has been answered, or has had its effect. */
const STEPS = ['before the issue is read', 'before it is written', 'after it is written'] as const

test.each(STEPS)(
  'a write survives the SIGKILL of its worker %s, and is made once',
  { timeout: 120_000 },
  async (step) => {
    const host = await startCodeHost({ tokens: { shared: {} } })
    const env = { CODEHOST_API_URLS: host.url, CODEHOST_TOKEN: 'shared' }
    const app = await startApp({ env, hasDatabaseClock: true })
    const repository = host.repository('acme/app')
    repository.fill(4)
    const project = await app.given.project()
    const path = `/api/projects/${project.id}/codehost`
    await app.put(path, { repository: 'acme/app', schedule: 'off', writeBack: 'state' })
    const child = (): ChildProcess =>
      fork(script, [app.connectionString, host.url, 'shared'], { stdio: 'ignore' })
    const killed = child()
    const { body } = await app.post(`/api/codehost/${project.id}/sync`, undefined, {
      headers: { prefer: 'wait=60' },
    })
    expect(body.status).toBe('completed')
    const tasks = await app.query('select id from tasks where project_id = $1', [project.id])

    const isKilledAt = {
      'before the issue is read': 'GET',
      'before it is written': 'GET',
      'after it is written': 'PATCH',
    }[step]
    const reached = Promise.withResolvers<void>()
    if (step === 'before the issue is read')
      host.fault('hang', { matches: ({ url }) => /issues\/\d/.test(url) })
    host.onResponse(async ({ method, url }) => {
      if (method !== isKilledAt || !/issues\/\d/.test(url)) return
      reached.resolve()
      await new Promise(() => {})
    })
    await app.patch('/api/tasks/bulk', { ids: tasks.map(({ id }) => id), change: { status: 'done' } })
    if (step === 'before the issue is read') {
      await vi.waitFor(() => expect(host.requests.some(({ url }) => /issues\/\d$/.test(url))).toBe(true), {
        timeout: 30_000,
      })
    } else await reached.promise
    killed.kill('SIGKILL')
    await once(killed, 'exit')
    host.onResponse(() => {})
    host.heal()

    // Its leases are over.
    await passTime(app, 5 * 60_000)
    const others = await Promise.all(
      [1, 2].map(() => startApp({ env, connectionString: app.connectionString })),
    )
    const signal = new AbortController().signal
    while ((await Promise.all(others.map(({ service }) => service.outbox.sendDue(signal)))).some(Boolean));
    const rows = await app.query(`select status, write_back->>'state' as state, codehost_state from tasks`)
    expect(rows).toEqual(tasks.map(() => ({ status: 'done', state: 'done', codehost_state: 'closed' })))
    const numbers = host.requests.filter(({ method }) => method === 'PATCH').map(({ url }) => url)
    expect(numbers.toSorted()).toEqual([...new Set(numbers)].toSorted())
    expect(numbers).toHaveLength(4)
    const log = await app.query(
      `select type from activity where type like 'task.%' and type <> 'task.created'`,
    )
    expect(log).toEqual(tasks.map(() => ({ type: 'task.completed' })))
    for (const other of others) await other.close()
    await app.close()
    await host.close()
  },
)
