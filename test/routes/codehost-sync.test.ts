import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type Syncing, startSyncing } from '../support/syncing.ts'

let service: Syncing
beforeAll(async () => {
  service = await startSyncing()
  service.host.repository('acme/app').fill(3)
})
afterAll(() => service.close())

const soon = (look: () => Promise<void>) => vi.waitFor(look, { timeout: 30_000, interval: 100 })

describe('a sync', () => {
  test('returns 202 with the location of the run, and the runs are listed newest first', async () => {
    const { project, sync } = await service.connected({}, 2)
    const first = await sync()
    const response = await service.post(`/api/codehost/${project.id}/sync`)
    expect(response.status).toBe(202)
    expect(response.headers.get('location')).toBe(`/api/codehost/${project.id}/syncs/${response.body.id}`)
    expect(response.body).toMatchObject({ status: 'queued', mode: 'incremental', startedAt: null })
    await soon(async () => {
      const { body } = await service.get(response.headers.get('location') ?? '')
      expect(body).toMatchObject({ status: 'completed', finishedAt: expect.any(String) })
    })
    const page = (await service.get(`/api/codehost/${project.id}/syncs?limit=1`)).body
    expect(page.data.map(({ id }: { id: string }) => id)).toEqual([response.body.id])
    const rest = (await service.get(`/api/codehost/${project.id}/syncs?cursor=${page.nextCursor}`)).body
    expect(rest.data).toEqual([first])
    expect(rest.nextCursor).toBeNull()
  })

  test('with Prefer: wait returns 200 as soon as the run has ended, 202 when it takes longer', async () => {
    const { project } = await service.connected({}, 150)
    const path = `/api/codehost/${project.id}/sync`
    service.host.latencyMs = 600
    const slow = await service.post(path, undefined, { headers: { prefer: 'respond-async, wait=1' } })
    service.host.latencyMs = 0
    expect([slow.status, slow.headers.get('preference-applied')]).toEqual([202, 'wait=1'])
    const again = await service.post(path)
    expect([again.status, again.body.code, again.body.runId]).toEqual([409, 'sync_in_progress', slow.body.id])
    await soon(async () => {
      expect((await service.get(`${path}s/${slow.body.id}`)).body.status).toBe('completed')
    })
    const start = performance.now()
    const fast = await service.post(path, undefined, { headers: { prefer: 'wait=60' } })
    expect([fast.status, fast.body.status]).toEqual([200, 'completed'])
    expect(performance.now() - start).toBeLessThan(10_000)
    expect((await service.post(path, undefined, { headers: { prefer: 'wait=soon' } })).status).toBe(202)
  })

  test.each(['?mode=all', '?nope=1'])('rejects %s', async (query) => {
    const { project } = await service.connected()
    expect((await service.post(`/api/codehost/${project.id}/sync${query}`)).status).toBe(400)
  })

  test('starts once when many are requested at once', async () => {
    const { project } = await service.connected({}, 5)
    const responses = await Promise.all(
      Array.from({ length: 8 }, () => service.post(`/api/codehost/${project.id}/sync`)),
    )
    const statuses = responses.map(({ status }) => status).sort()
    expect(statuses[0]).toBe(202)
    expect(statuses.at(-1)).toBe(409)
  })

  test('is rejected in an archived project, and a run of another project is not found', async () => {
    const { project, sync } = await service.connected({}, 1)
    const run = await sync()
    const other = await service.given.project()
    expect((await service.get(`/api/codehost/${other.id}/syncs/${run.id}`)).body.code).toBe(
      'sync_run_not_found',
    )
    await service.post(`/api/projects/${project.id}/archive`)
    expect((await service.post(`/api/codehost/${project.id}/sync`)).body.code).toBe('project_archived')
    expect((await service.get(`/api/codehost/${project.id}/syncs/${run.id}`)).status).toBe(200)
  })
})

describe('the schedule', () => {
  test('runs what is due, sets the next time, and skips what is off or archived', async () => {
    const due = await service.connected({ schedule: 'hourly' }, 1)
    const off = await service.connected({ schedule: 'off' }, 1)
    const archived = await service.connected({ schedule: 'daily' }, 1)
    await service.post(`/api/projects/${archived.project.id}/archive`)
    await service.query(
      "update codehost_connections set next_run_at = now() - interval '1 minute' where schedule <> 'off'",
    )
    await soon(async () => {
      const { data } = (await service.get(`/api/codehost/${due.project.id}/syncs`)).body
      expect(data).toMatchObject([{ status: 'completed', mode: 'incremental', fetched: 1 }])
    })
    const connection = (await service.get(`/api/projects/${due.project.id}/codehost`)).body
    expect(Date.parse(connection.nextRunAt)).toBeGreaterThan(Date.now() + 3_500_000)
    for (const { project } of [off, archived]) {
      expect((await service.get(`/api/codehost/${project.id}/syncs`)).body.data).toEqual([])
    }
  })

  test('reconciles everything once a week', async () => {
    const { project, sync } = await service.connected({ schedule: 'daily' }, 1)
    await sync()
    await service.query(
      'update codehost_connections set next_run_at = now(), next_full_at = now() where project_id = $1',
      [project.id],
    )
    await soon(async () => {
      const { data } = (await service.get(`/api/codehost/${project.id}/syncs`)).body
      expect(data[0]).toMatchObject({ status: 'completed', mode: 'full' })
    })
    const [row] = await service.query('select next_full_at from codehost_connections where project_id = $1', [
      project.id,
    ])
    expect(row.next_full_at.getTime()).toBeGreaterThan(Date.now() + 6.9 * 86_400_000)
  })
})
