import { afterAll, beforeAll, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'
import { explaining, type Work, workOf } from '../support/plans.ts'
import { freshDatabase } from '../support/postgres.ts'
import { workOnStatus } from '../support/status.ts'

/*
 * What PostgreSQL reads for the status of a thousand sources that were in use each hour of a day, and each day of four
 * weeks, before the tables were ever analyzed, and afterwards.
 */

const SOURCES = 1_000
const [HOURS, DAYS] = [24, 29]
/** Each source, its state, its hours and its pauses, and what has none of them. */
const ALL = SOURCES * (2 + HOURS + DAYS) + 100

let database: Awaited<ReturnType<typeof freshDatabase>>
let service: TestApp
let ids: string[] = []
let works: Work[] = []

beforeAll(async () => {
  database = await freshDatabase()
  const onNotice = (notice: string) => {
    const work = workOf(notice)
    if (work) works.push(work)
  }
  service = await startApp({ connectionString: explaining(database.connectionString), onNotice })
  const { id: projectId } = await service.given.project()
  ids = (
    await service.query(
      `insert into sources (id, name, project_id, scheme, secret, mapping, is_active, created_at, updated_at)
       select uuidv7(), 'Source ' || i, $1, 'bearer', 'x', 'feedback', true, now(), now()
       from generate_series(1, ${SOURCES}) as i returning id`,
      [projectId],
    )
  ).map(({ id }) => id)
  for (const statement of [
    `insert into pipes (kind, id, last_attempt_at, last_success_at)
     select 'source', id::text, now() - interval '2 hours', now() from sources`,
    `insert into pipe_hours (kind, id, hour, succeeded, failed)
     select kind, id, date_trunc('hour', now()) - hour * interval '1 hour', 1, 1 from pipes, generate_series(0, ${HOURS}) as hour`,
    `insert into pipe_pauses (kind, id, day, longest_seconds)
     select kind, id, to_char(now() - day * interval '1 day', 'YYYY-MM-DD'), 3600 from pipes, generate_series(0, ${DAYS}) as day`,
  ])
    await service.query(statement)
}, 120_000)
afterAll(async () => {
  await service?.close()
  await database?.drop()
})

const isOfStatus = ({ statement }: Work) => statement.includes('"pipes"')

test.each(['never analyzed', 'analyzed'])(
  'the status is one statement, and so is each second: %s',
  async (state) => {
    if (state === 'analyzed') await service.query('vacuum analyze')
    works = []
    const { body } = await service.get('/api/status')
    expect(body.data).toHaveLength(SOURCES + 1)
    const [read, ...others] = works.filter(isOfStatus)
    expect(others).toEqual([])
    expect(read?.read).toBeLessThan(ALL)

    for (const id of ids) service.service.pipes.failed({ kind: 'source', id }, { code: 'x', message: 'x' })
    works = []
    await service.service.status.flush()
    const [stored, ...more] = works.filter(isOfStatus)
    expect(more).toEqual([])
    expect(stored?.read).toBeLessThan(10 * SOURCES)
    await workOnStatus(service)

    service.service.pipes.succeeded({ kind: 'source', id: `${ids[0]}` })
    works = []
    await service.service.status.flush()
    // Which of them exist is looked up in one pass.
    expect(works.find(isOfStatus)?.read).toBeLessThan(SOURCES + 100)
  },
)
