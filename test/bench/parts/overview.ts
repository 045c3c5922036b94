import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { type Figure, inPairs, quantile } from '../support/figures.ts'
import { requestsPerSecond } from '../support/load.ts'
import { fillWithTasks } from '../support/many-tasks.ts'
import { ADMIN_KEY, query, type Running, type Setup } from '../support/setup.ts'

const MILLION = 1_000_000
const TEN_YEARS = 3_650
const REQUESTS = 100
const SECONDS = 4
const CONNECTIONS = 32
const HEADERS = { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json' }
const TASK = { title: 'Login fails', description: 'Sign in, sign out, sign in again.', labels: ['bug'] }

/** The overview at a million tasks, and what counting for it costs a create. */
export async function* overview(setup: Setup): AsyncGenerator<Figure> {
  const database = await setup.database('overview')
  await fillWithTasks(database, MILLION, { isSearchable: false, openedDays: TEN_YEARS })
  await query(
    database,
    'set session_replication_role = replica',
    FEEDBACK,
    MERGED,
    REPORTED,
    'vacuum analyze tasks',
  )
  const service = await setup.service({ DATABASE_URL: database })
  try {
    yield {
      name: 'a million tasks counted after an upgrade',
      unit: 's',
      value: await secondsUntilCounted(service),
    }
    for (const [path, what] of [
      ['/api/overview', 'the overview of a million'],
      ['/api/overview?weeks=520', 'the overview of a million, ten years'],
      ['/api/overview/feedback', 'the overview of feedback, 100,000 of a million'],
      ['/api/overview/feedback?weeks=520', 'the overview of feedback, ten years'],
    ] as const) {
      const value = quantile(await delaysOf(service, path), 0.95)
      yield {
        name: `${what}, p95`,
        unit: 'ms',
        value,
        ...(!path.includes('?') && { valueLimit: { atMost: 100 } }),
      }
    }
    await createsPerSecond(service)
    yield await inPairs({
      name: `creates at ${CONNECTIONS} connections while the overview is counted`,
      unit: '/s',
      measure: () => createsPerSecond(service),
      reference: {
        name: 'while it is not',
        measure: () => whileNotCounted(database, () => createsPerSecond(service)),
      },
      pairs: 15,
      ratioLimit: { atLeast: 0.98 },
    })
  } finally {
    await service.stop()
  }
}

/** One task in ten is feedback, about one of twenty versions. */
const FEEDBACK = `
  update tasks set source = 'analytics', metadata = jsonb_build_object('properties', jsonb_build_object(
    'app_version', '2.' || abs(hashtext(id::text)) % 20,
    'sentiment', (array['loved', 'meh', 'frustrated'])[1 + abs(hashtext(title)) % 3]))
  where abs(hashtext(id::text)) % 10 = 0`

/** Five each are about the same. */
const MERGED = `
  update tasks set merged_into = target, status = 'done', completed_at = coalesce(completed_at, created_at)
  from (
    select id, first_value(id) over (partition by project_id, place / 5 order by id) as target
    from (
      select id, project_id, row_number() over (partition by project_id order by id) - 1 as place
      from tasks where source = 'analytics'
    ) as feedback
  ) as grouped
  where tasks.id = grouped.id and target <> grouped.id`

const REPORTED = `
  update tasks set report_count = reports
  from (select merged_into, count(*) as reports from tasks where merged_into is not null group by 1) as counted
  where id = counted.merged_into`

async function secondsUntilCounted({ url }: Running): Promise<number> {
  const begin = performance.now()
  while (!(await fetch(`${url}/api/overview`, { headers: HEADERS })).ok) await sleep(100)
  return (performance.now() - begin) / 1_000
}

/** Milliseconds of each request, one after another. */
async function delaysOf({ url }: Running, path: string): Promise<number[]> {
  const delays: number[] = []
  for (let request = 0; request < REQUESTS; request++) {
    const begin = performance.now()
    const response = await fetch(url + path, { headers: HEADERS })
    await response.arrayBuffer()
    delays.push(performance.now() - begin)
    if (!response.ok) throw new Error(`${response.status} for ${path}`)
  }
  return delays
}

const createsPerSecond = (service: Running) =>
  requestsPerSecond({
    url: service.url,
    connections: CONNECTIONS,
    seconds: SECONDS,
    request: () => ({ method: 'POST', path: '/api/tasks', headers: HEADERS, body: JSON.stringify(TASK) }),
    status: 201,
  })

/** The service takes the lock for what another instance does. */
async function whileNotCounted<T>(connectionString: string, work: () => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  try {
    await client.query('begin')
    await client.query('select from overview_progress for update')
    return await work()
  } finally {
    await client.end()
  }
}
