import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Database, openDatabase } from '../../src/db/pool.ts'
import {
  everywhere,
  inProject,
  type Reach,
  type Repositories,
  repositories,
  taskCache,
} from '../../src/repositories/index.ts'
import type { TaskPageRequest } from '../../src/repositories/task-pages.ts'
import type { TaskPageJson } from '../../src/repositories/task-pages-json.ts'
import { itemsOf } from '../../src/services/page.ts'
import type { TestApp } from '../support/app.ts'
import { passTime } from '../support/database-clock.ts'
import { startTwoInstances, type TwoInstances } from '../support/two-instances.ts'

/* A page of tasks that an instance has read before equals the same page read afresh, whoever wrote meanwhile. */

const HISTORIES = Number(process.env.HISTORIES ?? 6)
/** Set to what a failure printed, to see it again. */
const SEED = Number(process.env.FC_SEED ?? Date.now() % 2 ** 31)

let instances: TwoInstances
let service: TestApp
let readers: Reader[]
beforeAll(async () => {
  instances = await startTwoInstances({ hasDatabaseClock: true })
  service = instances.service
  readers = [readerOn(service), readerOn(service)]
})
afterAll(async () => {
  for (const { db } of readers) await db.$client.end()
  await instances.close()
})

interface Reader {
  db: Database
  repos: Repositories
  /** How many tasks of pages were kept. */
  found: number
}

/** As an instance reads pages, but each of them with the cache. */
function readerOn({ connectionString }: TestApp): Reader {
  const db = openDatabase({ connectionString, size: 2, onError: () => {} })
  const cache = taskCache(db.$client)
  const reader = {
    db,
    repos: repositories(db, {
      cache: {
        ...cache,
        isWorthwhile: () => true,
        noteFound: (_kind, { found }) => {
          reader.found += found
        },
      },
    }),
    found: 0,
  }
  return reader
}

const task = fc.nat(5)
const instance = fc.constantFrom<'service' | 'second'>('service', 'second')
const step = fc.oneof(
  fc.record({
    do: fc.constant('change' as const),
    task,
    instance,
    change: fc.oneof(
      fc.record({ status: fc.constantFrom('open', 'in_progress', 'done') }),
      fc.record({ title: fc.constantFrom('Crash', 'Ünïcode 🦊', '"quoted"\n') }),
      fc.record({ notes: fc.constantFrom('', 'Looks like a timeout', null) }),
      fc.record({ triaged: fc.boolean() }),
      fc.record({ snoozedUntil: fc.constantFrom('2999-01-01T00:00:00.000Z', null) }),
    ),
  }),
  fc.record({ do: fc.constant('block' as const), task, instance, other: task }),
  fc.record({ do: fc.constantFrom('claim' as const, 'comment' as const, 'ask' as const), task, instance }),
  fc.record({
    do: fc.constantFrom('unmerge' as const, 'delete' as const, 'restore' as const),
    task,
    instance,
  }),
  fc.record({ do: fc.constant('merge' as const), task, instance, other: task }),
  fc.record({ do: fc.constant('elsewhere' as const), task, isKept: fc.boolean() }),
  fc.record({ do: fc.constant('archive' as const), instance, isArchived: fc.boolean() }),
  fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(1_000, 31_000) }),
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

interface World {
  projectId: string
  ids: string[]
}

async function take(step: Step, { projectId, ids }: World) {
  if (step.do === 'wait') return passTime(service, step.ms)
  const id = 'task' in step ? ids[step.task % ids.length] : undefined
  if (step.do === 'elsewhere') return writeElsewhere(id, step)
  const { call } = instances[step.instance]
  const send = (method: string, path: string, body?: object) =>
    call(method, path, { key: service.adminKey, ...(body && { body }) })
  const path = `/api/tasks/${id}`
  switch (step.do) {
    case 'change':
      return send('PATCH', path, step.change)
    case 'block':
      return send('PATCH', path, { blockedBy: [ids[step.other % ids.length]] })
    case 'merge':
      return send('POST', `${path}/merge`, { into: ids[step.other % ids.length] })
    case 'claim':
      return send('POST', `${path}/claim`, { leaseSeconds: 30 })
    case 'comment':
      return send('POST', `${path}/comments`, { body: 'Text' })
    case 'ask':
      return send('POST', `${path}/comments`, { body: 'Which?', needsAnswer: true })
    case 'delete':
      return send('DELETE', path)
    case 'archive':
      return send('POST', `/api/projects/${projectId}/${step.isArchived ? 'archive' : 'unarchive'}`)
    default:
      return send('POST', `${path}/${step.do}`)
  }
}

/** Twice in one transaction of another program, which is read before it ends, and may be rolled back. */
async function writeElsewhere(id: string | undefined, { isKept }: { isKept: boolean }) {
  const client = await service.connect()
  try {
    await client.query('begin')
    for (const title of ['Between', `Changed ${isKept}`]) {
      await client.query('update tasks set title = $2 where id = $1', [id, title])
      await expectSamePages()
    }
    await client.query(isKept ? 'commit' : 'rollback')
  } finally {
    client.release()
  }
}

const first: TaskPageRequest = { sortBy: 'created', direction: 'descending', limit: 51, isSummary: false }
const PAGES: TaskPageRequest[] = [
  first,
  { ...first, isSummary: true },
  { ...first, sortBy: 'updated', limit: 4 },
  { ...first, sortBy: 'opened', direction: 'ascending', limit: 6 },
  { ...first, sortBy: 'priority', direction: 'ascending', limit: 3 },
  { ...first, sortBy: 'reports', limit: 3, isSummary: true },
]

let reaches: Reach[] = [everywhere]

const shown = ({ items, last }: TaskPageJson) => ({ items: Buffer.concat(items).toString(), last })

async function expectSamePages() {
  for (const { repos } of readers) {
    for (const reach of reaches) {
      for (const page of PAGES) {
        const read = ({ within }: Pick<Repositories, 'within'>) => within(reach).tasks.list({}, page)
        const kept = await read(repos)
        expect(shown(kept)).toEqual(shown(await repos.transaction(read)))
        const after = kept.last
        if (after) {
          const next = ({ within }: Pick<Repositories, 'within'>) =>
            within(reach).tasks.list({}, { ...page, after })
          expect(shown(await next(repos))).toEqual(shown(await repos.transaction(next)))
        }
      }
    }
  }
}

test('a page that has no room for all of its tasks ends with the same one', async () => {
  const { id: projectId, inbox } = await service.given.project()
  reaches = [inProject(projectId)]
  for (let n = 0; n < 30; n++) await service.given.task(inbox, { notes: 'ä'.repeat(30_000) })
  for (let n = 0; n < 3; n++) await expectSamePages()
})

test('a task that changes between the two statements of a page is read as it is then', async () => {
  const { id: projectId, inbox } = await service.given.project()
  const reach = inProject(projectId)
  const ids: string[] = []
  for (let n = 0; n < 3; n++) ids.push((await service.given.task(inbox)).id)
  const { db, repos } = readerOn(service)
  const query = db.$client.query.bind(db.$client) as (...given: unknown[]) => Promise<unknown>
  let changes = 0
  // Between the statement for the keys and the one that reads what is missing.
  db.$client.query = (async (...given: unknown[]) => {
    const { name = '' } = given[0] as { name?: string }
    if (name.startsWith('tasks by ids')) {
      changes++
      await service.query(`update tasks set title = 'Changed' where id = $1`, [ids[1]])
    }
    return query(...given)
  }) as typeof db.$client.query

  const { items } = await repos.within(reach).tasks.list({}, first)

  const titles = itemsOf<{ title: string }>({ items }).map(({ title }) => title)
  expect([changes, titles.filter((title) => title === 'Changed').length]).toEqual([1, 1])
  await db.$client.end()
})

test('pages equal those read afresh, after any history of two instances and other programs', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
      const { id: projectId, inbox } = await service.given.project()
      reaches = [everywhere, inProject(projectId)]
      const ids: string[] = []
      for (let n = 0; n < 6; n++) ids.push((await service.given.task(inbox)).id)
      for (const step of steps) {
        await take(step, { projectId, ids })
        await expectSamePages()
      }
    }),
    { numRuns: HISTORIES, seed: SEED },
  )
  for (const { found } of readers) expect(found).toBeGreaterThan(HISTORIES * 100)
}, 240_000)
