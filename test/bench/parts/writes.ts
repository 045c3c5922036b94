import { randomUUID } from 'node:crypto'
import { type Figure, inPairs, type Limit, median } from '../support/figures.ts'
import { type BenchRequest, requestsPerSecond } from '../support/load.ts'
import { requirePgbench, transactionsPerSecond } from '../support/pgbench.ts'
import { ADMIN_KEY, query, type Running, type Setup, whilePaused } from '../support/setup.ts'
import {
  addList,
  addTasksToUpdate,
  dropAllButPrimaryKeys,
  inserting,
  POSTING,
  TASK,
  updating,
} from '../support/statements.ts'

const SECONDS = 5
/** Until then V8 interprets much of the code. */
const WARM_UP_SECONDS = 5
const HEADERS = { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json' }
const TASKS_TO_UPDATE = 10_000

/** What a create costs in PostgreSQL alone, with the schema's indexes, keys, and triggers and without them. */
export async function schema(setup: Setup): Promise<Figure[]> {
  await requirePgbench()
  const tables = await referenceDatabase(setup, 'schema')
  const keysAlone = await referenceDatabase(setup, 'schema_keys')
  await dropAllButPrimaryKeys(keysAlone)
  return [
    await inPairs({
      name: 'single-row inserts in PostgreSQL alone, 32 connections',
      unit: '/s',
      measure: () => pgbench(setup, tables, [inserting(1)], 32),
      reference: {
        name: 'the same tables with primary keys alone',
        measure: () => pgbench(setup, keysAlone, [inserting(1)], 32),
      },
      ratioLimit: { atLeast: 0.55 },
    }),
  ]
}

/** Writes with an `Idempotency-Key`, and activity that other systems post, compared with pgbench writing the same rows. */
export async function* keyed(setup: Setup): AsyncGenerator<Figure> {
  await requirePgbench()
  const tables = await referenceDatabase(setup, 'keyed_tables')
  const service = await setup.service({ DATABASE_URL: await setup.database('keyed') })
  const connections = 32
  const compared = (name: string, { script, request, atLeast }: KeyedFigure) =>
    comparedWithPgbench({
      name: `${name}, ${connections} connections`,
      service,
      connections,
      request,
      status: 201,
      reference: {
        name: 'pgbench, without a key',
        measure: () => pgbench(setup, tables, [script], connections),
      },
      ratioLimit: { atLeast },
    })
  try {
    yield await compared('creates with a key', {
      script: inserting(1),
      request: () => withKey(createRequest),
      atLeast: 0.5,
    })
    yield await compared('posted activities', { script: POSTING, request: () => postRequest, atLeast: 0.4 })
    yield await compared('posted activities with a key', {
      script: POSTING,
      request: () => withKey(postRequest),
      atLeast: 0.3,
    })
  } finally {
    await service.stop()
  }
}

interface KeyedFigure {
  /** What pgbench runs. */
  script: string
  request(): BenchRequest
  /** The limit of the ratio. */
  atLeast: number
}

const withKey = (request: BenchRequest): BenchRequest => ({
  ...request,
  headers: { ...request.headers, 'idempotency-key': randomUUID() },
})

/** Single creates, bulks of 100 and changes of a status, compared with pgbench writing the same rows. */
export async function* writes(setup: Setup): AsyncGenerator<Figure> {
  await requirePgbench()
  const tables = await referenceDatabase(setup, 'writes_tables')
  const keysAlone = await referenceDatabase(setup, 'writes_keys')
  await dropAllButPrimaryKeys(keysAlone)
  const database = await setup.database('writes')
  const service = await setup.service({ DATABASE_URL: database })
  const compared = (
    connectionString: string,
    name: string,
    script: string[],
    options: Omit<ComparedOptions, 'service' | 'reference'>,
  ) =>
    comparedWithPgbench({
      ...options,
      service,
      reference: {
        name,
        measure: () => pgbench(setup, connectionString, script, options.connections),
      },
    })

  const create = { request: () => createRequest, status: 201 }
  try {
    const oneByOne = await compared(tables, 'pgbench', [inserting(1)], {
      ...create,
      name: 'creates, 1 connection',
      connections: 1,
    })
    yield oneByOne
    yield addedLatency(oneByOne)
    yield await compared(keysAlone, 'pgbench, primary keys alone', [inserting(1)], {
      ...create,
      name: 'creates, 32 connections',
      connections: 32,
      ratioLimit: { atLeast: 0.5 },
    })
    yield await compared(tables, 'pgbench', [inserting(1)], {
      ...create,
      name: 'creates, 32 connections',
      connections: 32,
      ratioLimit: { atLeast: 1 },
    })
    const [list] = await query<{ id: string }>(database, 'select id from lists limit 1')
    const bulk: BenchRequest = {
      method: 'POST',
      path: '/api/tasks/bulk',
      headers: HEADERS,
      body: JSON.stringify({ listId: list?.id, tasks: Array(100).fill(TASK) }),
    }
    yield await compared(tables, 'pgbench, one statement', [inserting(100)], {
      name: 'bulk requests of 100 tasks, 4 connections',
      unit: 'bulks/s',
      connections: 4,
      request: () => bulk,
      status: 201,
      ratioLimit: { atLeast: 0.65 },
    })
    await addTasksToUpdate(tables, TASKS_TO_UPDATE)
    const ids = await query<{ id: string }>(database, `select id from tasks limit ${TASKS_TO_UPDATE}`)
    yield await compared(tables, 'pgbench, the same update and activity', updating(TASKS_TO_UPDATE), {
      name: 'changes of a status, 32 connections',
      connections: 32,
      request: statusChanges(ids.map(({ id }) => id)),
      status: 200,
      ratioLimit: { atLeast: 0.8 },
    })
  } finally {
    await service.stop()
  }
}

const createRequest: BenchRequest = {
  method: 'POST',
  path: '/api/tasks',
  headers: HEADERS,
  body: JSON.stringify(TASK),
}

const postRequest: BenchRequest = {
  method: 'POST',
  path: '/api/activity',
  headers: HEADERS,
  body: JSON.stringify({ type: 'deploy.finished', message: 'Version 2.3.1 is live' }),
}

/** Each task in turn, to another status each time. */
export function statusChanges(ids: string[]): () => BenchRequest {
  let count = 0
  return () => {
    const id = ids[count % ids.length]
    const status = Math.floor(count / ids.length) % 2 === 0 ? 'in_progress' : 'open'
    count++
    return { method: 'PATCH', path: `/api/tasks/${id}`, headers: HEADERS, body: JSON.stringify({ status }) }
  }
}

interface ComparedOptions {
  name: string
  unit?: string
  service: Running
  connections: number
  request(): BenchRequest
  status: number
  reference: { name: string; measure(): Promise<number> }
  ratioLimit?: Limit
}

async function comparedWithPgbench({ unit = '/s', service, reference, ...options }: ComparedOptions) {
  const measure = (seconds: number) => requestsPerSecond({ ...options, url: service.url, seconds })
  await measure(WARM_UP_SECONDS)
  return inPairs({
    ...options,
    unit,
    measure: () => measure(SECONDS),
    reference: { name: reference.name, measure: () => whilePaused(service, reference.measure) },
  })
}

/** From the rates of one connection: what the service adds to the database's own latency. */
function addedLatency({ runs = [] }: Figure): Figure {
  return {
    name: 'latency added to a create, 1 connection',
    unit: 'ms',
    value: median(runs.map(({ value, reference }) => 1_000 / value - 1_000 / reference)),
    valueLimit: { atMost: 0.4 },
  }
}

async function referenceDatabase(setup: Setup, name: string): Promise<string> {
  const connectionString = await setup.database(name)
  await addList(connectionString)
  return connectionString
}

const pgbench = (
  { directory }: Setup,
  connectionString: string,
  script: string[],
  connections: number,
): Promise<number> =>
  transactionsPerSecond({ connectionString, directory, script, connections, seconds: SECONDS })
