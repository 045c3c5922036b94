import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Figure, inPairs } from '../support/figures.ts'
import { requestsPerSecond } from '../support/load.ts'
import { ADMIN_KEY, type Running, type Stage } from '../support/stage.ts'

const SETTLED_MS = 3_000

/** What the process holds when nothing happens, and after a flood of creates, beside Fastify with nothing in it. */
export async function memory(stage: Stage): Promise<Figure[]> {
  if (process.platform !== 'linux') return []
  const database = await stage.database('memory')
  const idle = async (start: () => Promise<Running>) => {
    const running = await start()
    await sleep(SETTLED_MS)
    const held = residentMegabytes(running)
    await running.stop()
    return held
  }
  const service = () => stage.service({ DATABASE_URL: database })
  const bare = () => stage.bare('bare.ts', { DATABASE_URL: stage.adminUrl })
  const reference = { name: 'Fastify and a connection', measure: () => idle(bare) }
  const atRest = await inPairs({ name: 'memory at rest', unit: 'MB', ours: () => idle(service), reference })

  const busy = await service()
  const send = {
    method: 'POST',
    path: '/api/tasks',
    body: '{"title":"Crash when saving"}',
    status: 201,
  } as const
  const headers = { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json' }
  await requestsPerSecond({ ...send, url: busy.url, connections: 32, seconds: 10, headers })
  const figures = [
    atRest,
    { name: 'memory after 10 s of creates', unit: 'MB', ours: residentMegabytes(busy) },
  ]
  await busy.stop()
  return figures
}

/** From the spawn to the line that says where it listens, on a data directory that is there. */
export async function start(stage: Stage): Promise<Figure[]> {
  const env = { DATA_DIR: join(stage.directory, 'start') }
  const readyMs = async (running: Promise<Running>) => {
    const { readyMs, stop } = await running
    await stop()
    return readyMs
  }
  // The first makes the database.
  await readyMs(stage.service(env))
  const ours = () => readyMs(stage.service(env))
  const measure = () => readyMs(stage.bare('bare.ts', { DATABASE_URL: stage.adminUrl }))
  const reference = { name: 'Fastify and a connection', measure }
  return [await inPairs({ name: 'start with its own PostgreSQL', unit: 'ms', ours, reference, pairs: 5 })]
}

/** As the kernel tells it. */
function residentMegabytes({ process }: Running): number {
  const status = readFileSync(`/proc/${process.pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024
}
