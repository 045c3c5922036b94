import { beforeAll, describe, expect, test } from 'vitest'
import { type ChangePosition, encodeChangeCursor } from '../../../src/domain/change-cursor.ts'
import type { TaskFilter } from '../../../src/repositories/task-filters.ts'
import type { TaskPageRequest } from '../../../src/repositories/task-pages.ts'
import { TaskSort } from '../../../src/schemas/task-query.ts'
import { MAX_POSITIONS } from '../../../src/services/activity/feed.ts'
import type { TestApp } from '../../support/app.ts'
import { person, type SignedIn } from '../../support/people.ts'
import { beyond, type Limits, MAX_READ, PAGE, type Work } from '../../support/plans.ts'
import { listenTo, stored } from '../../support/stream.ts'
import type { Filled } from './filled.ts'

const SORTS = ['created', 'opened', 'updated', 'priority', 'reports'] as const
/** The project that most are in is read in the order of each of its ten lists. */
const LISTS = 10
/** A total is exact up to 10,000. */
const COUNTED = 10_001
/** So many tasks make a place large for a search. */
const SEARCHED = 6_001
/** How many candidates a search for similar tasks compares. */
const CANDIDATES = 1_000 + 3 * 300 + 20

/** What PostgreSQL reads for a reach of three projects: a page of each, and for a search no more than for all. */
export function describeSeveralProjects(filled: Filled) {
  const reach = () => ({
    projectIds: ['usualProject', 'oldProject', 'doneProject'].map((name) => filled.ids[name] ?? ''),
  })
  const repos = (app: TestApp) => app.repos.within(reach())

  async function workOf(work: () => Promise<unknown>): Promise<Work[]> {
    filled.forget()
    await work()
    return filled.works()
  }

  describe('for a reach of three projects', () => {
    let ada: SignedIn
    let end: ChangePosition
    beforeAll(async () => {
      const app = filled.service()
      ada = await person(app, { role: 'member', ...reach() })
      for (let isComplete = false; !isComplete; ) {
        ;({ end, isComplete } = await app.service.sequencer.catchUp())
      }
    }, 120_000)
    const workFor = (app: TestApp, path: string) => filled.workFor(app, path, ada.with)

    const pageOf = (
      sortBy: TaskPageRequest['sortBy'],
      after?: TaskPageRequest['after'],
    ): TaskPageRequest => ({
      sortBy,
      direction: 'descending',
      after,
      limit: PAGE,
      isSummary: true,
    })
    const KEYS = {
      created: null,
      opened: '2026-06-01T00:00:00.000Z',
      updated: '2026-06-01T00:00:00.000Z',
      priority: 2,
      reports: 0,
    }

    test.each(SORTS)('a page of tasks sorted by %s is read in the order of an index', async (sortBy) => {
      const [row] = await filled
        .service()
        .query(`select id from tasks order by id offset ${filled.count / 2} limit 1`)
      for (const app of filled.apps()) {
        for (const after of [undefined, { key: KEYS[sortBy], id: row.id }]) {
          const done = await workOf(() =>
            repos(app).tasks.list({ skipsArchived: true }, pageOf(sortBy, after)),
          )
          expect(beyond(done, { sorted: 3 * LISTS * PAGE })).toEqual([])
        }
      }
    })

    const SEARCHES: Record<string, TaskFilter> = {
      'a frequent word': { words: ['export'] },
      'a rare word': { words: ['quokka'] },
      'a letter of no task': { words: ['東'] },
      'a rare label': { labels: { names: ['rare'], orNone: false } },
    }
    test.each(Object.entries(SEARCHES))('a search for %s reads no more than for all', async (_, filter) => {
      for (const sortBy of SORTS) {
        const done = await workOf(() => repos(filled.service()).tasks.list(filter, pageOf(sortBy)))
        expect(beyond(done, { read: 22_000, sorted: 20_003 })).toEqual([])
      }
    })

    test.each([
      ['status=done'],
      ['source=api'],
      ['source=codehost'],
      ['assignee=ada'],
      ['assignee=none'],
      ['status=done&source=api&assignee=ada', { read: 5_000 }],
    ] as [string, Limits?][])(
      'tasks filtered by %s, which many have, are found at once',
      async (filter, limits) => {
        const found: string[] = []
        for (const app of filled.apps()) {
          for (const sort of TaskSort) {
            const done = await workFor(app, `/api/tasks?sort=${sort}&${filter}`)
            found.push(...beyond(done, { read: 2 * MAX_READ, sorted: 3 * LISTS * PAGE, ...limits }))
          }
        }
        expect(found).toEqual([])
      },
    )

    test.each([
      'status=open',
      'status=in_progress',
      'source=analytics',
      'source=assistant',
      'status=open&assignee=ada',
    ])('tasks filtered by %s read no more than the projects', async (filter) => {
      const found: string[] = []
      for (const sort of TaskSort) {
        for (const trash of ['', '&deleted=true']) {
          const done = await workFor(filled.service(), `/api/tasks?sort=${sort}&${filter}${trash}`)
          found.push(...beyond(done, { read: filled.count * 0.29, sorted: 3 * LISTS * PAGE }))
        }
      }
      expect(found).toEqual([])
    })

    test('tasks of a rare assignee are found by an index', async () => {
      for (const sort of TaskSort) {
        const done = await workFor(filled.service(), `/api/tasks?sort=${sort}&assignee=seldom`)
        expect(beyond(done, { sorted: 2 * PAGE })).toEqual([])
      }
    })

    // A total is exact: without an index of its own, every task of the projects is read.
    test.each([
      ['', 3 * COUNTED + MAX_READ],
      ['&status=open', filled.count * 0.29],
      ['&source=api', 3 * COUNTED * 2],
      ['&assignee=ada', 3 * COUNTED * 5],
      ['&assignee=seldom', MAX_READ],
      ['&q=quokka', SEARCHED + MAX_READ],
    ])('with count=true%s, counts up to 10,000 of each', async (filter, read) => {
      const done = await workFor(filled.service(), `/api/tasks?count=true&limit=1${filter}`)
      expect(beyond(done, { read, sorted: 3 * COUNTED })).toEqual([])
    })

    test.each(['usualProject', 'oldProject', 'doneProject'])(
      'similar tasks of a task in %s are found among a limited number',
      async (name) => {
        const [{ id }] = await filled
          .service()
          .query(
            `select id from tasks where project_id = $1 and title like '% export' order by id desc offset 100 limit 1`,
            [filled.ids[name]],
          )
        for (const app of filled.apps()) {
          const done = await workFor(app, `/api/tasks/${id}/similar`)
          // The first texts with a frequent word are read without an index, which finds all of them first.
          const limited = done.map((work) => ({
            ...work,
            scanned: work.scanned.filter((name) => name !== 'task_texts'),
          }))
          expect(beyond(limited, { read: 4 * CANDIDATES, sorted: CANDIDATES + 1 })).toEqual([])
        }
      },
    )

    test.each(['', '&type=task.created', '&type=no.such', '&include=task'])(
      'a page of changes%s examines a limited number of positions',
      async (more) => {
        for (const app of filled.apps()) {
          for (const position of [0, Math.floor(end.position / 2), end.position - 10]) {
            const cursor = encodeChangeCursor({ epoch: end.epoch, position })
            const done = await workFor(app, `/api/changes?cursor=${cursor}${more}`)
            expect(beyond(done, { read: 2 * MAX_POSITIONS })).toEqual([])
          }
        }
      },
    )

    test('a stream that resumes reads each position once', async () => {
      const position = end.position - 7_000
      const [{ count }] = await filled.service().query(
        `select count(*)::integer from changes join activity on activity.id = activity_id
         where position > $1 and project_id = any($2)`,
        [position, reach().projectIds],
      )
      expect(count).toBeGreaterThan(200)
      for (const app of filled.apps()) {
        filled.forget()
        const lastEventId = encodeChangeCursor({ epoch: end.epoch, position })
        const stream = await listenTo(app, { headers: ada.at(app).headers, lastEventId })
        await stream.until((events) => stored(events).length >= count, 60_000)
        stream.close()
        expect(beyond(filled.works(), { read: 2 * MAX_POSITIONS })).toEqual([])
      }
    })

    const OTHERS: Record<string, [(app: TestApp) => Promise<unknown>, Limits?]> = {
      activity: [
        (app) => repos(app).activity.list({}, { before: undefined, limit: PAGE }),
        { sorted: 3 * PAGE },
      ],
      'activity of a type': [
        (app) => repos(app).activity.list({ types: ['task.created'] }, { before: undefined, limit: PAGE }),
        { sorted: 3 * PAGE },
      ],
      'activity of no type': [
        (app) => repos(app).activity.list({ types: ['no.such'] }, { before: undefined, limit: PAGE }),
      ],
      deliveries: [
        (app) =>
          repos(app).deliveries.list({
            ...{
              receivers: ['feedback', 'codehost', 'source'],
              outcomes: ['accepted', 'failed'],
              limit: PAGE,
              hasWords: true,
            },
            ...{ fromId: undefined, before: undefined },
            ...{ projectId: undefined, sourceId: undefined, senderId: undefined },
          }),
        { sorted: 3 * 6 * PAGE },
      ],
      labels: [(app) => repos(app).taskNames.list({ kind: 'label' }, PAGE), { read: 21_100, sorted: 20_000 }],
    }
    test.each(Object.entries(OTHERS))('%s have an index', async (_, [read, limits]) => {
      for (const app of filled.apps()) expect(beyond(await workOf(() => read(app)), limits)).toEqual([])
    })

    test('the next tasks are claimed in the order of an index', async () => {
      const actor = { type: 'key', id: null, name: 'worker' } as const
      for (const app of filled.apps()) {
        for (const filter of [reach(), { ...reach(), label: 'rare' }]) {
          const now = new Date()
          const claim = { activityId: app.clock.newId(now), actor, leaseSeconds: 60, now }
          const { claims } = app.repos.within({ projectIds: null })
          const done = await workOf(() => claims.claimNext([claim], { filter, skipsExpired: false }))
          expect(beyond(done, { read: 2 * MAX_READ, sorted: MAX_READ })).toEqual([])
        }
      }
    })
  })
}
