import { lstatSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type Figure, inPairs } from '../support/figures.ts'
import { requestsPerSecond } from '../support/load.ts'
import { ADMIN_KEY, memoryOf, type Running, type Setup } from '../support/setup.ts'

const SETTLED_MS = 3_000
const CREATE_MINUTES = 10
/** In which `lstat` counts, whatever the file system uses. */
const BLOCK_BYTES = 512

/** Memory without requests, beside Fastify with nothing in it. */
export async function memory(setup: Setup): Promise<Figure[]> {
  requireLinux()
  const database = await setup.database('memory')
  const atRest = async (start: () => Promise<Running>) => {
    const running = await start()
    await sleep(SETTLED_MS)
    const { now } = memoryOf(running)
    await running.stop()
    return now
  }
  const figure = await inPairs({
    name: 'memory at rest',
    unit: 'MB',
    measure: () => atRest(() => setup.service({ DATABASE_URL: database })),
    reference: {
      name: 'Fastify and a connection',
      measure: () => atRest(() => setup.bare({ DATABASE_URL: setup.adminUrl })),
    },
  })
  return [{ ...figure, valueLimit: { atMost: 110 } }]
}

/** Memory during ten minutes of creates: its level at the end, and whether it still grows. */
export async function soak(setup: Setup): Promise<Figure[]> {
  requireLinux()
  const service = await setup.service({ DATABASE_URL: await setup.database('soak') })
  const levels: number[] = []
  for (let minute = 0; minute < CREATE_MINUTES; minute++) {
    await requestsPerSecond({
      url: service.url,
      connections: 32,
      seconds: 60,
      request: () => ({
        method: 'POST',
        path: '/api/tasks',
        headers: { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json' },
        body: '{"title":"Crash when saving"}',
      }),
      status: 201,
    })
    levels.push(memoryOf(service).now)
  }
  await service.stop()
  const name = `memory after ${CREATE_MINUTES} minutes of creates`
  const half = CREATE_MINUTES / 2
  const value = Math.max(...levels.slice(half))
  const before = Math.max(...levels.slice(0, half))
  return [
    {
      name,
      unit: 'MB',
      value,
      reference: { name: `in the first ${half} minutes`, value: before },
      ratio: value / before,
      ratioLimit: { atMost: 1.1 },
    },
    { name, unit: 'MB', value, valueLimit: { atMost: 200 } },
  ]
}

/** From the spawn to the line that says where it listens, on an existing data directory. */
export async function start(setup: Setup): Promise<Figure[]> {
  const env = { DATA_DIR: join(setup.directory, 'start') }
  const readyMs = async (running: Promise<Running>) => {
    const { readyMs, stop } = await running
    await stop()
    return readyMs
  }
  // The first start makes the database.
  await readyMs(setup.service(env))
  return [
    await inPairs({
      name: 'start with its own PostgreSQL',
      unit: 'ms',
      measure: () => readyMs(setup.service(env)),
      reference: {
        name: 'Fastify and a connection',
        measure: () => readyMs(setup.bare({ DATABASE_URL: setup.adminUrl })),
      },
      ratioLimit: { atMost: 3.5 },
    }),
  ]
}

/** What `npm ci` has installed. */
export async function install(): Promise<Figure[]> {
  requireLinux()
  const folder = fileURLToPath(new URL('../../../node_modules', import.meta.url))
  const files = (await readdir(folder, { recursive: true })).filter((file) => !file.startsWith('.cache'))
  const bytes = files.reduce((sum, file) => sum + lstatSync(join(folder, file)).blocks * BLOCK_BYTES, 0)
  return [{ name: 'installed packages', unit: 'MB', value: bytes / 1024 / 1024, valueLimit: { atMost: 520 } }]
}

/** @throws Error elsewhere: the memory of a process is read from `/proc`. */
function requireLinux(): void {
  if (process.platform !== 'linux') throw new Error('Memory is only measured on Linux.')
}
