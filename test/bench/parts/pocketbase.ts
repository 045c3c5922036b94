import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePort } from '../../support/free-port.ts'
import { type Figure, inPairs } from '../support/figures.ts'
import { type BenchRequest, requestsPerSecond } from '../support/load.ts'
import { ADMIN_KEY, memoryOf, type Running, type Setup, whilePaused } from '../support/setup.ts'
import { TASK } from '../support/statements.ts'

const SOURCE = fileURLToPath(new URL('../pocketbase/', import.meta.url))
const PEER = 'PocketBase 0.39'
const GO = 'go'
const SECONDS = 4
const WARM_UP_SECONDS = 4
const TASKS_TO_CHANGE = 500

/** Requests, and the status of their responses. */
interface Exchange {
  request(): BenchRequest
  status: number
}

/** A running service, and how it does the same work as the other one. */
interface Side {
  service: Running
  create: Exchange
  page: Exchange
  change: Exchange
}

/**
 * Beside PocketBase: one process with SQLite, which does not wait for the disk, with a collection that is open to
 * everybody. It is built from source; where Go is missing, nothing is measured.
 */
export async function* pocketBase(setup: Setup): AsyncGenerator<Figure> {
  if (spawnSync(GO, ['version']).error) return console.error(`         ${PEER} needs Go: not measured`)
  const theirs = await sideOf(await startPeer(setup), POCKETBASE)
  const database = await setup.database('beside_pocketbase')
  const ours = await sideOf(await setup.service({ DATABASE_URL: database }), INLET)
  const compared = (
    name: string,
    { work, connections, atLeast }: { work: Work; connections: number; atLeast?: number },
  ) =>
    inPairs({
      name: `${name}, ${connections} connection${connections === 1 ? '' : 's'}`,
      unit: '/s',
      measure: () => perSecond(ours, { work, connections }),
      reference: {
        name: PEER,
        measure: () => whilePaused(ours.service, () => perSecond(theirs, { work, connections })),
      },
      ...(atLeast !== undefined && { ratioLimit: { atLeast } }),
    })
  try {
    yield await compared('creates', { work: 'create', connections: 32, atLeast: 2.5 })
    yield await compared('creates', { work: 'create', connections: 1 })
    yield await compared('pages of 50', { work: 'page', connections: 8, atLeast: 3 })
    yield await compared('changes of a status', { work: 'change', connections: 32 })
    yield {
      name: 'memory after these requests',
      unit: 'MB',
      value: memoryOf(ours.service).now,
      reference: { name: PEER, value: memoryOf(theirs.service).now },
    }
    await ours.service.stop()
    const relaxed = await setup.service({ DATABASE_URL: withoutWaiting(database) })
    yield await inPairs({
      name: 'creates, 1 connection, with synchronous_commit=off',
      unit: '/s',
      measure: () => perSecond({ ...ours, service: relaxed }, { work: 'create', connections: 1 }),
      reference: {
        name: PEER,
        measure: () => whilePaused(relaxed, () => perSecond(theirs, { work: 'create', connections: 1 })),
      },
      ratioLimit: { atLeast: 1 },
    })
    await relaxed.stop()
  } finally {
    await theirs.service.stop()
  }
}

type Work = Exclude<keyof Side, 'service'>

const perSecond = (
  side: Side,
  { work, connections, seconds = SECONDS }: { work: Work; connections: number; seconds?: number },
) => requestsPerSecond({ url: side.service.url, connections, seconds, ...side[work] })

interface Api {
  path: string
  /** Of a page of 50, newest first. */
  page: string
  /** The status of a create. */
  created: number
  headers: Record<string, string>
}

const INLET: Api = {
  path: '/api/tasks',
  page: '/api/tasks',
  created: 201,
  headers: { 'content-type': 'application/json', 'x-api-key': ADMIN_KEY },
}

const RECORDS = '/api/collections/tasks/records'
const POCKETBASE: Api = {
  path: RECORDS,
  page: `${RECORDS}?perPage=50&skipTotal=1&sort=-created,-id`,
  created: 200,
  headers: { 'content-type': 'application/json' },
}

/** A side that has run for some time, and has tasks. */
async function sideOf(service: Running, { path, page, created, headers }: Api): Promise<Side> {
  const body = JSON.stringify(TASK)
  const create = { request: () => ({ method: 'POST', path, headers, body }) as const, status: created }
  await requestsPerSecond({ url: service.url, connections: 32, seconds: WARM_UP_SECONDS, ...create })
  const ids: string[] = []
  while (ids.length < TASKS_TO_CHANGE) {
    const response = await fetch(service.url + path, { method: 'POST', headers, body })
    ids.push(((await response.json()) as { id: string }).id)
  }
  let changes = 0
  const change = () => {
    const number = changes++
    const status = Math.floor(number / ids.length) % 2 === 0 ? 'in_progress' : 'open'
    const id = ids[number % ids.length]
    return { method: 'PATCH', path: `${path}/${id}`, headers, body: JSON.stringify({ status }) } as const
  }
  return {
    service,
    create,
    page: { request: () => ({ method: 'GET', path: page, headers }), status: 200 },
    change: { request: change, status: 200 },
  }
}

async function startPeer(setup: Setup): Promise<Running> {
  const program = join(setup.directory, 'pocketbase')
  const { status, stderr } = spawnSync(GO, ['build', '-o', program, '.'], { cwd: SOURCE, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${PEER} could not be built:\n${stderr}`)
  const address = `127.0.0.1:${await freePort()}`
  const args = ['serve', `--http=${address}`, `--dir=${join(setup.directory, 'pocketbase_data')}`]
  const peer = await setup.program(setup.directory, args, { command: program })
  // It says so just before it listens.
  while (!(await fetch(`${peer.url}/api/health`).catch(() => undefined))?.ok) await sleep(50)
  return peer
}

/** The same database; a commit does not wait for the disk, as in the other one. */
function withoutWaiting(connectionString: string): string {
  const url = new URL(connectionString)
  url.searchParams.set('options', '-c synchronous_commit=off')
  return url.href
}
