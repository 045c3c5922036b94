import { type Figure, inPairs } from '../support/figures.ts'
import { type BenchRequest, requestsPerSecond } from '../support/load.ts'
import { requirePgbench, transactionsPerSecond } from '../support/pgbench.ts'
import { ADMIN_KEY, type Setup, whilePaused } from '../support/setup.ts'
import { addList, addTasksToClaim, CLAIMING } from '../support/statements.ts'

const SECONDS = 5
const CALLERS = 64
/** More than are claimed: in all measurements together, and by either. */
const TASKS = 300_000

const claim: BenchRequest = {
  method: 'POST',
  path: '/api/tasks/claim',
  headers: { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json' },
  body: '{}',
}

/** Claims of the next task by many callers at once, compared with pgbench claiming the same rows. */
export async function claims(setup: Setup): Promise<Figure[]> {
  await requirePgbench()
  const tables = await setup.database('claims_tables')
  await addList(tables)
  await addTasksToClaim(tables, TASKS)
  const database = await setup.database('claims')
  const service = await setup.service({ DATABASE_URL: database })
  await addTasksToClaim(database, TASKS)
  const measure = (seconds: number) =>
    requestsPerSecond({ url: service.url, connections: CALLERS, seconds, request: () => claim, status: 200 })
  const pgbench = () =>
    transactionsPerSecond({
      connectionString: tables,
      directory: setup.directory,
      script: [CLAIMING],
      connections: CALLERS,
      seconds: SECONDS,
    })
  try {
    await measure(SECONDS)
    return [
      await inPairs({
        name: `claims of the next task, ${CALLERS} callers`,
        unit: '/s',
        measure: () => measure(SECONDS),
        reference: {
          name: 'pgbench, the same update for update skip locked and activity',
          measure: () => whilePaused(service, pgbench),
        },
        ratioLimit: { atLeast: 0.6 },
      }),
    ]
  } finally {
    await service.stop()
  }
}
