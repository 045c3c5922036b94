import { encodeCursor } from '../../../src/domain/cursor.ts'
import { type Figure, inPairs, quantile } from '../support/figures.ts'
import { requestsPerSecond } from '../support/load.ts'
import { fillWithTasks, SMALL_PROJECT, WORDS } from '../support/many-tasks.ts'
import { requirePgbench, transactionsPerSecond } from '../support/pgbench.ts'
import { ADMIN_KEY, query, type Running, type Setup, whilePaused } from '../support/setup.ts'
import { addPlaces, PAGE_AS_JSON, pageAtAPlace } from '../support/statements.ts'

const MILLION = 1_000_000
const SECONDS = 4
/** Until then V8 interprets much of the code. */
const WARM_UP_SECONDS = 4
const CONNECTIONS = 8
/** Their tasks take several times the room in which the service keeps tasks. */
const PLACES = 10_000
const SEARCHES = 20
const HEADERS = { 'x-api-key': ADMIN_KEY }

/** Pages and searches at a million tasks. */
export async function* pages(setup: Setup): AsyncGenerator<Figure> {
  await requirePgbench()
  const database = await setup.database('pages')
  await fill(database, MILLION)
  const service = await setup.service({ DATABASE_URL: database })
  try {
    const byJsonAgg = (script: string[]) => ({
      name: 'pgbench, the same page by json_agg',
      measure: () =>
        whilePaused(service, () =>
          transactionsPerSecond({
            connectionString: database,
            directory: setup.directory,
            script,
            connections: CONNECTIONS,
            seconds: SECONDS,
          }),
        ),
    })
    await pagesPerSecond(service, '/api/tasks', WARM_UP_SECONDS)
    yield await inPairs({
      name: 'a page of 50 of a million',
      unit: '/s',
      measure: () => pagesPerSecond(service, '/api/tasks'),
      reference: byJsonAgg([PAGE_AS_JSON]),
      ratioLimit: { atLeast: 1.2 },
    })
    const places = await addPlaces(database, PLACES)
    yield await inPairs({
      name: 'pages of 50 all over a million',
      unit: '/s',
      measure: () => pagesPerSecond(service, () => pathAfter(places[Math.floor(Math.random() * PLACES)])),
      reference: byJsonAgg(pageAtAPlace(PLACES)),
      ratioLimit: { atLeast: 0.45 },
    })
    yield await inPairs({
      name: 'page 10,000',
      unit: '/s',
      measure: await pageAfter(database, service, 500_000),
      reference: { name: 'page 1', measure: () => pagesPerSecond(service, '/api/tasks') },
      ratioLimit: { atLeast: 1 / 1.1 },
    })
    yield* await searches(service)
    yield await searchOfSmallProject(database, service)
    yield await similarTasks(database, service)
  } finally {
    await service.stop()
  }
}

/** Pages of a table of ten million and of ten thousand tasks. Filling takes several minutes and 10 GB. */
export async function sizes(setup: Setup): Promise<Figure[]> {
  const services = await Promise.all(
    [10_000_000, 10_000].map(async (count) => {
      const database = await setup.database(`sizes_${count}`)
      await fill(database, count, { isSearchable: false })
      return setup.service({ DATABASE_URL: database })
    }),
  )
  const [large, small] = services as [Running, Running]
  try {
    for (const service of services) await pagesPerSecond(service, '/api/tasks', WARM_UP_SECONDS)
    return [
      await inPairs({
        name: 'a page of 50 of ten million',
        unit: '/s',
        measure: () => pagesPerSecond(large, '/api/tasks'),
        reference: { name: 'of ten thousand', measure: () => pagesPerSecond(small, '/api/tasks') },
        ratioLimit: { atLeast: 1 / 1.3 },
      }),
    ]
  } finally {
    for (const service of services) await service.stop()
  }
}

async function fill(database: string, count: number, options?: { isSearchable: boolean }): Promise<void> {
  const since = performance.now()
  await fillWithTasks(database, count, options)
  console.error(`         ${count} tasks in ${Math.round((performance.now() - since) / 1_000)} s`)
}

const pagesPerSecond = (service: Running, path: string | (() => string), seconds = SECONDS) =>
  requestsPerSecond({
    url: service.url,
    connections: CONNECTIONS,
    seconds,
    request: () => ({ method: 'GET', path: typeof path === 'string' ? path : path(), headers: HEADERS }),
    status: 200,
  })

async function pageAfter(database: string, service: Running, count: number) {
  const [last] = await query<{ id: string }>(
    database,
    `select id from tasks order by id desc offset ${count} limit 1`,
  )
  return () => pagesPerSecond(service, pathAfter(last?.id))
}

const pathAfter = (id = '') => `/api/tasks?cursor=${encodeCursor('-createdAt', { key: null, id })}`

/** One after another, each word as often; each time in another case, so that no cache can help. */
async function searches(service: Running): Promise<Figure[]> {
  const all: number[] = []
  const figures: Figure[] = []
  for (const [word, percent] of Object.entries(WORDS)) {
    const delays = await delaysOf(service, word, percent > 0 ? 50 : 0)
    const name = `search of a million, a word in ${percent} % of them, p95`
    figures.push({ name, unit: 'ms', value: quantile(delays, 0.95) })
    all.push(...delays)
  }
  const name = 'search of a million, all these words, p95'
  return [...figures, { name, unit: 'ms', value: quantile(all, 0.95), valueLimit: { atMost: 60 } }]
}

/** The word is frequent everywhere, and the status is nowhere: no page is filled on the way. */
async function searchOfSmallProject(database: string, service: Running): Promise<Figure> {
  const [project] = await query<{ id: string }>(
    database,
    `select id from projects where name = '${SMALL_PROJECT.name}'`,
  )
  const delays = await delaysOf(service, 'export', 0, `&projectId=${project?.id}&status=in_progress`)
  const name = `search of a project of ${SMALL_PROJECT.tasks} beside a million, a frequent word, p95`
  return { name, unit: 'ms', value: quantile(delays, 0.95), valueLimit: { atMost: 300 } }
}

/** Of tasks from all over the table, each asked once, so that no cache can help. */
async function similarTasks(database: string, service: Running): Promise<Figure> {
  const rows = await query<{ id: string }>(
    database,
    `select id from (
       select id, row_number() over (order by id) as n from tasks
       where project_id = (select id from projects where name = 'Project 1')
     ) as numbered where n % 2400 = 1 limit 40`,
  )
  const delays: number[] = []
  for (const { id } of rows) {
    const begin = performance.now()
    const response = await fetch(`${service.url}/api/tasks/${id}/similar`, { headers: HEADERS })
    const { unavailable } = (await response.json()) as { unavailable?: boolean }
    delays.push(performance.now() - begin)
    if (unavailable !== false) throw new Error(`${response.status} for ${id}`)
  }
  const name = 'tasks of a million that resemble one, p95'
  return { name, unit: 'ms', value: quantile(delays, 0.95), valueLimit: { atMost: 300 } }
}

/** Milliseconds of each search; each has to find so many tasks. */
async function delaysOf(service: Running, word: string, count: number, more = ''): Promise<number[]> {
  const delays: number[] = []
  for (let time = 0; time < SEARCHES; time++) {
    const begin = performance.now()
    const response = await fetch(`${service.url}/api/tasks?q=${inCase(word, time)}${more}`, {
      headers: HEADERS,
    })
    const { data } = (await response.json()) as { data?: unknown[] }
    delays.push(performance.now() - begin)
    if (data?.length !== count) throw new Error(`${response.status} with ${data?.length} tasks for ${word}`)
  }
  return delays
}

const inCase = (word: string, time: number) =>
  [...word].map((letter, index) => ((time >> index) & 1 ? letter.toUpperCase() : letter)).join('')
