import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  ADMIN_KEY,
  cleanUp,
  connectionStringOf,
  type Inlet,
  newDataDir,
  send,
  serverPid,
  spawnInlet,
} from '../support/inlet-process.ts'
import { keepAliveClient } from '../support/keep-alive-client.ts'

/** How long a supervisor waits before it kills. */
const GRACE_MS = 10_000

/** One after the other on one database: each leaves it stopped. */
let dataDir: string

beforeAll(async () => {
  dataDir = await newDataDir()
})

afterAll(cleanUp)

describe('on a signal, the process finishes its requests and stops its database', {
  timeout: 120_000,
}, () => {
  test('with SIGTERM, twice, under load from clients that keep their connections', async () => {
    const { inlet, url } = await start()
    const clients = [0, 0, 0, 0, 0, 0, 50, 50, 200, 200].map((thinkMs) =>
      keepAliveClient(url).createUntilRefused({ thinkMs }),
    )
    await sleep(500)

    const ended = await signalTwice(inlet, () => inlet.process.kill('SIGTERM'))

    const tallies = await Promise.all(clients)
    expect(tallies.flatMap(({ failures }) => failures)).toEqual([])
    for (const { responses } of tallies) expect(responses).toBeGreaterThan(0)
    expect(ended).toMatchObject({ code: 0 })
    expect(ended.ms).toBeLessThan(GRACE_MS)
    expect(await serverPid(dataDir)).toBeUndefined()
  })

  test('with Ctrl-C in a terminal, which reaches the whole process group', async () => {
    const { inlet, url } = await start({ isGroup: true })
    const clients = Array.from({ length: 4 }, () => keepAliveClient(url).createUntilRefused())
    await sleep(300)

    const ended = await signalTwice(inlet, () => send(-pidOf(inlet), 'SIGINT'))

    const tallies = await Promise.all(clients)
    expect(tallies.flatMap(({ failures }) => failures)).toEqual([])
    expect(ended).toMatchObject({ code: 0 })
    expect(inlet.output()).toContain('embedded database stopped')
    expect(await serverPid(dataDir)).toBeUndefined()
  })

  test('with requests that take longer, and connections that are idle, unused or stuck in a header', async () => {
    const { inlet, url } = await start()
    const client = keepAliveClient(url)
    const { text } = await client.post('/api/tasks', { title: 'To be locked' })
    const blocker = new pg.Client({ connectionString: await connectionStringOf(dataDir) })
    // On a slow machine the server may end it before the test does.
    blocker.on('error', () => {})
    await blocker.connect()
    await blocker.query('BEGIN')
    await blocker.query('SELECT FROM tasks WHERE id = $1 FOR UPDATE', [JSON.parse(text).id])
    const sockets = ['', 'GET /healthz HTTP/1.1\r\nHost: inlet\r\n', IDLE].map((head) => open(url, head))
    const waitsForLock = fetch(`${url}/api/tasks/${JSON.parse(text).id}`, {
      method: 'PATCH',
      headers: { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json' },
      body: '{"status":"done"}',
    })
    const sendsSlowly = keepAliveClient(url).post('/api/tasks', { title: 'Slow' }, { pauseMs: 1_500 })
    await sleep(300)

    const ending = signalTwice(inlet, () => inlet.process.kill('SIGTERM'))
    await sleep(1_500)
    await blocker.query('COMMIT')
    await blocker.end()

    expect((await waitsForLock).status).toBe(200)
    expect((await sendsSlowly).status).toBe(201)
    expect(await ending).toMatchObject({ code: 0 })
    expect((await ending).ms).toBeLessThan(5_000)
    expect(await serverPid(dataDir)).toBeUndefined()
    for (const socket of sockets) socket.destroy()
  })

  test('while it still starts', async () => {
    const inlet = spawnInlet({ dataDir })
    while (!inlet.output().includes('embedded database ready')) await sleep(5)

    const ended = await signalTwice(inlet, () => inlet.process.kill('SIGTERM'))

    expect(ended).toMatchObject({ code: 0 })
    expect(await serverPid(dataDir)).toBeUndefined()
  })
})

const IDLE = 'GET /healthz HTTP/1.1\r\nHost: inlet\r\n\r\n'

async function start({ isGroup = false } = {}) {
  const inlet = spawnInlet({ dataDir, isGroup })
  return { inlet, url: await inlet.url }
}

/** Twice, as npm does with what it starts. */
async function signalTwice(inlet: Inlet, signal: () => void) {
  const since = performance.now()
  signal()
  await sleep(20)
  signal()
  const { code, signal: endedBy } = await inlet.ended
  return { code, endedBy, ms: performance.now() - since }
}

function pidOf({ process: { pid } }: Inlet): number {
  if (!pid) throw new Error('It was never started.')
  return pid
}

function open(url: string, head: string) {
  const socket = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => undefined)
  socket.resume().write(head)
  return socket
}
