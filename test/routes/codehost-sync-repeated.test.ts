import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type ApiResponse, startApp, type TestApp } from '../support/app.ts'
import { type Syncing, startSyncing } from '../support/syncing.ts'

let service: Syncing
let second: TestApp
beforeAll(async () => {
  service = await startSyncing()
  second = await startApp({
    connectionString: service.connectionString,
    env: { CODEHOST_API_URLS: service.host.url },
  })
})
afterAll(async () => {
  await second.close()
  await service.close()
})

let counter = 0
async function syncing() {
  const { project } = await service.connected({}, 2)
  const path = `/api/codehost/${project.id}/sync`
  const key = `nightly-${++counter}`
  const send = (prefer?: string, app: TestApp | Syncing = service) =>
    app.post(path, undefined, {
      key: service.adminKey,
      headers: { 'idempotency-key': key, ...(prefer && { prefer }) },
    })
  return { project, key, send }
}

const shown = ({ status, body, headers }: ApiResponse) => ({
  status,
  body,
  headers: ['location', 'preference-applied', 'content-type'].map((name) => headers.get(name)),
})
const isReplay = ({ headers }: ApiResponse) => headers.get('idempotency-replayed') === 'true'

describe('a sync that is repeated with its Idempotency-Key', () => {
  test('gets the first response, when the first request had waited for the end', async () => {
    const { send } = await syncing()
    const first = await send('wait=20')
    expect(first).toMatchObject({ status: 200, body: { status: 'completed', fetched: 2 } })
    expect(first.headers.get('preference-applied')).toBe('wait=20')
    for (const prefer of ['wait=20', undefined]) {
      const again = await send(prefer)
      expect([shown(again), isReplay(again)]).toEqual([shown(first), true])
    }
  })

  test('gets the first response, when the first request had not waited for the end', async () => {
    const { send, project } = await syncing()
    const first = await send()
    expect(first).toMatchObject({ status: 202, body: { status: 'queued' } })
    await vi.waitFor(async () => {
      const { body } = await service.get(`/api/codehost/${project.id}/syncs`)
      expect(body.data[0].status).toBe('completed')
    }, 20_000)
    expect(shown(await send('wait=20'))).toEqual(shown(first))
  })

  test('by many requests at once, on two instances, gets one response for all', async () => {
    const { send } = await syncing()
    service.host.onResponse(() => new Promise((resolve) => setTimeout(resolve, 100)))
    const responses = await Promise.all(
      Array.from({ length: 8 }, (_, n) => send('wait=20', n % 2 ? second : service)),
    )
    service.host.onResponse(() => {})
    expect(responses.filter((response) => !isReplay(response))).toHaveLength(1)
    expect(responses[0]).toMatchObject({ status: 200, body: { status: 'completed' } })
    for (const response of responses) expect(shown(response)).toEqual(shown(responses[0] as ApiResponse))
  })

  test('gets a Retry-After while the first waits longer than the lock timeout', async () => {
    const { send, key } = await syncing()
    await send('wait=20')
    await service.query(
      "update idempotency_keys set completes_by = now() + interval '1 minute' where key = $1",
      [key],
    )
    expect(await send('wait=20')).toMatchObject({ status: 409, body: { code: 'request_in_progress' } })
  })

  test('gets the response of the start when the first died while it waited', async () => {
    const { send, key } = await syncing()
    const first = await send()
    await service.query("update idempotency_keys set completes_by = now() - interval '1 ms' where key = $1", [
      key,
    ])
    const again = await send('wait=20')
    expect([shown(again), isReplay(again)]).toEqual([shown(first), true])
    const [row] = await service.query('select completes_by from idempotency_keys where key = $1', [key])
    expect(row.completes_by).toBeNull()
  })

  test('has the response that a repeat has got, also when the first ends later', async () => {
    const { send, key } = await syncing()
    const asked = Promise.withResolvers<void>()
    const held = Promise.withResolvers<void>()
    service.host.onResponse(() => {
      asked.resolve()
      return held.promise
    })
    const first = send('wait=20')
    await asked.promise
    await service.query("update idempotency_keys set completes_by = now() - interval '1 ms' where key = $1", [
      key,
    ])
    const repeat = await send('wait=20')
    service.host.onResponse(() => {})
    held.resolve()
    expect([shown(repeat), isReplay(repeat)]).toEqual([shown(await first), true])
  })
})
