import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { startApp, type TestApp } from '../../support/app.ts'
import { type CodeHostFake, startCodeHost } from '../../support/code-host.ts'

/** Without a worker: a run that is queued stays so until a test does something about it. */
let service: TestApp
let host: CodeHostFake
beforeAll(async () => {
  host = await startCodeHost()
  host.repository('acme/app')
  service = await startApp({ env: { CODEHOST_API_URLS: host.url } })
})
afterAll(async () => {
  await service.close()
  await host.close()
})

async function connected() {
  const { id } = await service.given.project()
  await service.put(`/api/projects/${id}/codehost`, { repository: 'acme/app', schedule: 'off' })
  return { id, path: `/api/codehost/${id}/sync` }
}

/** Starts a run with a long wait; resolves once it is queued, with the pending response. */
async function startWithLongWait({ id, path }: { id: string; path: string }, headers = {}) {
  const response = service.post(path, undefined, { headers: { prefer: 'wait=60', ...headers } })
  const runId = await vi.waitFor(
    async () => {
      const [run] = await service.query('select id from sync_runs where project_id = $1', [id])
      expect(run).toBeDefined()
      return run.id
    },
    { timeout: 30_000, interval: 20 },
  )
  return { response, runId }
}

describe('a sync that is started while another one ends', () => {
  test('starts, or returns a run that exists', async () => {
    const project = await connected()
    for (let round = 0; round < 300; round++) {
      const end = sleep((round % 10) / 4).then(() =>
        service.query("update sync_runs set status = 'completed' where project_id = $1", [project.id]),
      )
      const [response] = await Promise.all([service.post(project.path), end])
      if (response.status === 409) {
        expect(response.body.code).toBe('sync_in_progress')
        expect((await service.get(`${project.path}s/${response.body.runId}`)).status).toBe(200)
      } else expect(response.status).toBe(202)
    }
  }, 120_000)
})

describe('while a request waits for a run', () => {
  test.each([
    ['without', {}],
    ['with', { 'idempotency-key': 'once' }],
  ])(
    'its project is deleted: the response is the run as it was started, %s an Idempotency-Key',
    async (_, headers) => {
      const project = await connected()
      const { response, runId } = await startWithLongWait(project, headers)
      // Disconnecting it would end the run first, which the request may see.
      await service.query('delete from codehost_connections where project_id = $1', [project.id])
      expect((await service.delete(`/api/projects/${project.id}`)).status).toBe(204)
      const { status, body, headers: responseHeaders } = await response
      expect(status).toBe(202)
      expect(body).toMatchObject({ id: runId, status: 'queued' })
      expect(responseHeaders.get('location')).toBe(`${project.path}s/${runId}`)
    },
  )

  test('the database is unavailable: the response is the run as it was last seen', async () => {
    const project = await connected()
    const { response, runId } = await startWithLongWait(project)
    await service.query('alter table sync_runs rename to sync_runs_away')
    const { status, body } = await response
    await service.query('alter table sync_runs_away rename to sync_runs')
    expect([status, body.id]).toEqual([202, runId])
  })
})
