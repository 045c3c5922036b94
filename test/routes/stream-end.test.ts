import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'
import { UNKNOWN_ID } from '../support/patterns.ts'
import { idsOf, type Listener, streamListeners } from '../support/stream.ts'

let service: TestApp
beforeAll(async () => {
  service = await startApp()
})
const { follow, closeAll } = streamListeners(() => service)
afterEach(closeAll)
afterAll(() => service.close())

describe('a stream ends', () => {
  test('when its key is revoked, expires, or is deleted', async () => {
    const soon = new Date(Date.now() + 1_500)
    const revoked = await service.given.key({ name: 'revoked', scopes: ['tasks:read'] })
    const expiring = await service.given.key({ scopes: ['tasks:read'], expiresAt: soon })
    const lasting = await service.given.key({ scopes: ['tasks:read'] })
    const [first, second, third] = [
      await follow({ key: revoked }),
      await follow({ key: expiring, lastEventId: UNKNOWN_ID }),
      await follow({ key: lasting }),
    ]
    await service.query(`update api_keys set revoked_at = now() where name = 'revoked'`)

    await Promise.race([isOver(first, second), sleep(15_000)])

    expect([first.isEnded, second.isEnded, third.isEnded]).toEqual([true, true, false])
  })

  test('when the secret it was opened with has ended, while the key has another', async () => {
    const old = await service.given.key({ name: 'rotated', scopes: ['tasks:read'] })
    const { body: me } = await service.get('/api/me', { key: old })
    const before = await follow({ key: old })
    const { body } = await service.post(`/api/keys/${me.id}/rotate`, { overlapSeconds: 0 })
    const after = await follow({ key: body.key })

    await expect.poll(() => before.isEnded, { timeout: 30_000 }).toBe(true)

    expect(after.isEnded).toBe(false)
  })

  test('when its instance shuts down, and quickly', async () => {
    const instance = await startApp({ connectionString: service.connectionString })
    const live = await follow({}, instance)
    const replayed = await follow({ lastEventId: UNKNOWN_ID }, instance)
    const silent = await neverRead(instance)
    await service.query(ACTIVITIES, [1_000, 4_000])
    await sleep(300)

    const began = Date.now()
    await instance.app.close()

    expect(Date.now() - began).toBeLessThan(5_000)
    await isOver(live, replayed)
    silent.destroy()
    await instance.close()
  })

  test('when it is not read, while others miss nothing', async () => {
    const project = await service.given.project()
    const sockets: Socket[] = []
    service.app.server.on('connection', (socket) => sockets.push(socket))
    const silent = await neverRead(service, `?projectId=${project.id}`)
    const listener = await follow({ query: `?projectId=${project.id}` })
    const [served] = sockets as [Socket]
    let most = 0
    const watching = setInterval(() => {
      most = Math.max(most, served.writableLength)
    }, 5)

    for (let round = 0; round < 10; round++) await service.query(ACTIVITIES_OF, [500, 4_000, project.id])
    await listener.until(({ length }) => length === 5_000, 20_000)

    await expect.poll(() => served.destroyed, { timeout: 20_000 }).toBe(true)
    clearInterval(watching)
    expect(most).toBeLessThan(1024 * 1024)
    expect(new Set(idsOf(listener.events)).size).toBe(5_000)
    silent.destroy()
  })
})

/** $1 entries with a text of $2 characters. */
const ACTIVITIES_OF = `
  insert into activity (id, type, message, project_id, actor_type, actor_name, metadata, created_at)
  select gen_random_uuid(), 'load', repeat('x', $2::integer), $3, 'system', 'by hand', '{}', now()
  from generate_series(1, $1::integer)`
const ACTIVITIES = ACTIVITIES_OF.replace('$3', 'null')

async function isOver(...streams: Listener[]): Promise<void> {
  while (!streams.every(({ isEnded: isOver }) => isOver)) await sleep(20)
}

/** Opens a stream over a socket that takes the headers and then reads no more. */
async function neverRead(on: TestApp, query = ''): Promise<Socket> {
  const socket = connect(Number(new URL(on.url).port), '127.0.0.1')
  socket.on('error', () => {})
  socket.write(`GET /api/stream${query} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${on.adminKey}\r\n\r\n`)
  await once(socket, 'data')
  socket.pause()
  return socket
}
