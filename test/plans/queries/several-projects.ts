import { describe, expect, test } from 'vitest'
import type { TaskFilter } from '../../../src/repositories/task-filters.ts'
import type { TaskPageRequest } from '../../../src/repositories/task-pages.ts'
import type { TestApp } from '../../support/app.ts'
import { beyond, type Limits, MAX_READ, PAGE, type Work } from '../../support/plans.ts'
import type { Filled } from './filled.ts'

const SORTS = ['created', 'opened', 'updated', 'priority', 'reports'] as const
/** The project that most are in is read in the order of each of its ten lists. */
const LISTS = 10

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
            },
            ...{ fromId: undefined, before: undefined, projectId: undefined, sourceId: undefined },
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
