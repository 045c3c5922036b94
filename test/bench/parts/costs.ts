import { type Figure, median } from '../support/figures.ts'
import { type BenchRequest, requestsPerSecond } from '../support/load.ts'
import { fillWithTasks } from '../support/many-tasks.ts'
import { processorTimeOf, processorTimeOfServer } from '../support/processor-time.ts'
import { ADMIN_KEY, query, type Running, type Setup } from '../support/setup.ts'
import { TASK } from '../support/statements.ts'
import { feedbackRequest, RECEIVER } from './feedback.ts'
import { statusChanges } from './writes.ts'

const TASKS = 100_000
const SECONDS = 4
const WARM_UP_SECONDS = 4
const RUNS = 5
const HEADERS = { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json' }

interface Work {
  name: string
  connections: number
  request(): BenchRequest
  status: number
}

/**
 * The processor time that requests take of Inlet and of PostgreSQL: what a machine of a given size can carry. It includes
 * background work that follows from them.
 */
export async function* costs(setup: Setup): AsyncGenerator<Figure> {
  if (process.platform !== 'linux') throw new Error('Processor time is only measured on Linux.')
  const database = await setup.database('costs')
  await fillWithTasks(database, TASKS, { isSearchable: false })
  const service = await setup.service({ DATABASE_URL: database, ...RECEIVER })
  const ids = await query<{ id: string }>(database, 'select id from tasks tablesample system (5)')
  try {
    for (const work of kindsOf(ids.map(({ id }) => id))) {
      await perSecond(service, work, WARM_UP_SECONDS)
      yield await costOf(work, { service, database })
    }
  } finally {
    await service.stop()
  }
}

function kindsOf(ids: string[]): Work[] {
  let next = 0
  const get = (path: string): BenchRequest => ({ method: 'GET', path, headers: HEADERS })
  return [
    {
      name: 'a create',
      connections: 32,
      request: () => ({ method: 'POST', path: '/api/tasks', headers: HEADERS, body: JSON.stringify(TASK) }),
      status: 201,
    },
    { name: 'a change of a status', connections: 32, request: statusChanges(ids), status: 200 },
    { name: 'an event of feedback', connections: 32, request: feedbackRequest, status: 201 },
    { name: 'a page of 50', connections: 8, request: () => get('/api/tasks'), status: 200 },
    {
      name: 'a task',
      connections: 8,
      request: () => get(`/api/tasks/${ids[next++ % ids.length]}`),
      status: 200,
    },
  ]
}

const perSecond = (service: Running, work: Work, seconds: number) =>
  requestsPerSecond({ ...work, url: service.url, seconds })

async function costOf(
  work: Work,
  { service, database }: { service: Running; database: string },
): Promise<Figure> {
  const pid = service.process.pid ?? 0
  const runs: { node: number; server: number }[] = []
  for (let run = 0; run < RUNS; run++) {
    const before = { node: processorTimeOf(pid), server: await processorTimeOfServer(database) }
    const requests = (await perSecond(service, work, SECONDS)) * SECONDS
    runs.push({
      node: (processorTimeOf(pid) - before.node) / requests,
      server: ((await processorTimeOfServer(database)) - before.server) / requests,
    })
  }
  return {
    name: `processor time of ${work.name}, ${work.connections} connections`,
    unit: 'µs',
    value: median(runs.map(({ node }) => node)),
    reference: { name: 'of PostgreSQL', value: median(runs.map(({ server }) => server)) },
  }
}
