import { describe, expect, test } from 'vitest'
import { encodeCursor } from '../../../src/domain/cursor.ts'
import { TaskSort } from '../../../src/schemas/task-query.ts'
import { beyond, MAX_READ, PAGE } from '../../support/plans.ts'
import type { Filled } from './filled.ts'

/** A sort may have a page of each of the ten lists of a project. */
const LISTS = 10
/** So many tasks make a place large for a search. */
const SEARCHED = 6_001

const PLACES = {
  'all projects': () => '',
  'all projects, archived too': () => '&includeArchived=true',
  'a project': ({ ids }: Filled) => `&projectId=${ids.usualProject}`,
  'a project of old tasks': ({ ids }: Filled) => `&projectId=${ids.oldProject}`,
  'a list': ({ ids }: Filled) => `&listId=${ids.usualList}`,
  'a list of old tasks': ({ ids }: Filled) => `&listId=${ids.oldList}`,
  'a list, with its project': ({ ids }: Filled) => `&listId=${ids.usualList}&projectId=${ids.usualProject}`,
}
type Place = keyof typeof PLACES

const KEYS: Record<TaskSort, string | number | null> = {
  '-createdAt': null,
  createdAt: null,
  '-openedAt': '2026-06-01T00:00:00.000Z',
  openedAt: '2026-06-01T00:00:00.000Z',
  '-updatedAt': '2026-06-01T00:00:00.000Z',
  updatedAt: '2026-06-01T00:00:00.000Z',
  '-priority': 2,
  // Among the tasks without reports, which are all but a few.
  '-reports': 0,
}

/** In the middle of all tasks. */
async function cursorOf(filled: Filled, sort: TaskSort): Promise<string> {
  const [row] = await filled
    .service()
    .query(`select id from tasks order by id offset ${filled.count / 2} limit 1`)
  return `&cursor=${encodeCursor(sort, { key: KEYS[sort], id: row.id })}`
}

export function describePages(filled: Filled) {
  const all = filled.count
  /** The trash, and what an index of its own finds: so many at most. */
  const few = Math.max(all / 100, SEARCHED)
  /** The rows of a project. */
  const walk = all * 0.045

  describe('a page of tasks', () => {
    test.each(
      TaskSort.flatMap((sort) => (Object.keys(PLACES) as Place[]).map((place) => [sort, place] as const)),
    )('sorted by %s, of %s, is read in the order of an index', async (sort, place) => {
      // Those with reports, and the others.
      const parts = sort === '-reports' ? 2 : 1
      const sorted = place.startsWith('a project') ? LISTS * PAGE : parts * PAGE
      for (const app of filled.apps()) {
        for (const cursor of ['', await cursorOf(filled, sort)]) {
          for (const fields of ['', '&fields=summary']) {
            const path = `/api/tasks?sort=${sort}${PLACES[place](filled)}${cursor}${fields}`
            expect(beyond(await filled.workFor(app, path), { sorted })).toEqual([])
          }
        }
      }
    })

    test.each(TaskSort)(
      'sorted by %s, for a key of one project, is read in the order of an index',
      async (sort) => {
        for (const app of filled.apps()) {
          const done = await filled.workFor(app, `/api/tasks?sort=${sort}`, { key: filled.key() })
          expect(beyond(done, { sorted: LISTS * PAGE })).toEqual([])
        }
      },
    )

    test.each(['-createdAt', 'createdAt'])(
      'of a list and a status, sorted by %s, has an index',
      async (sort) => {
        for (const list of [filled.ids.usualList, filled.ids.oldList]) {
          for (const status of ['open', 'in_progress', 'done']) {
            expect(
              beyond(
                await filled.workFor(
                  filled.service(),
                  `/api/tasks?sort=${sort}&listId=${list}&status=${status}`,
                ),
              ),
            ).toEqual([])
          }
        }
      },
    )

    test.each(['-createdAt', 'createdAt'])('to be triaged, sorted by %s, has an index', async (sort) => {
      const places = ['', `&projectId=${filled.ids.usualProject}`, `&projectId=${filled.ids.doneProject}`]
      for (const app of filled.apps()) {
        for (const place of places) {
          const path = `/api/tasks?triaged=false&snoozed=false&includeArchived=true&sort=${sort}${place}`
          expect(beyond(await filled.workFor(app, path))).toEqual([])
        }
        const path = `/api/tasks?triaged=false&sort=${sort}`
        expect(beyond(await filled.workFor(app, path, { key: filled.key() }))).toEqual([])
      }
    })

    test.each(['-updatedAt', 'updatedAt'])(
      'of the trash, by time of deletion (%s), has an index',
      async (sort) => {
        for (const app of filled.apps()) {
          for (const place of [
            '',
            `&projectId=${filled.ids.usualProject}`,
            `&projectId=${filled.ids.oldProject}`,
          ]) {
            expect(beyond(await filled.workFor(app, `/api/tasks?deleted=true&sort=${sort}${place}`))).toEqual(
              [],
            )
          }
        }
      },
    )

    const FILTERS = {
      'a frequent status': 'status=open',
      'a rare status': 'status=in_progress',
      'no claim': 'claimed=false',
      'a claim': 'claimed=true',
      'no decision': 'triaged=false',
      'a decision': 'triaged=true',
      'a snooze': 'snoozed=true',
      'no snooze': 'snoozed=false',
      'a question': 'needsAnswer=true',
      'no question': 'needsAnswer=false',
      'two statuses': 'status=open&status=in_progress',
      'a source': 'source=analytics',
      'a priority': 'priority=high',
      'a frequent label': 'label=bug',
      'a rare label': 'label=rare',
      'no label': 'label=none',
      'a frequent assignee': 'assignee=ada',
      'no assignee': 'assignee=none',
      'a kind': 'kind=pull_request',
      'what is ready': 'isReady=true',
      'what is not ready': 'isReady=false',
      'a time of creation': 'createdSince=2026-01-01T00:00:00.000Z',
      'two frequent words': 'q=export%20version',
      'a time': 'updatedSince=2026-01-01T00:00:00.000Z',
      'a time of opening': 'openedSince=2026-01-01T00:00:00.000Z',
      'a pull request': `codehostPrNumber=${all / 2 + 7}`,
      'a frequent word': 'q=export',
      'a rare word': 'q=quokka',
      'a word of no task': 'q=zzyzx',
    }
    test.each(Object.entries(FILTERS))('filtered by %s reads no more than its place', async (_, filter) => {
      const found: string[] = []
      for (const sort of TaskSort) {
        for (const [place, where] of Object.entries(PLACES)) {
          const read = place.startsWith('all')
            ? all * 1.01
            : place.includes('old')
              ? all / 5 + MAX_READ
              : walk
          for (const trash of ['', '&deleted=true']) {
            const path = `/api/tasks?sort=${sort}&${filter}${where(filled)}${trash}`
            // What an index of its own finds is sorted, and so is the trash, unless it is sorted by time of deletion.
            // So are the open tasks of a list, of which there are few in most.
            const sorted = filter === FILTERS['what is ready'] ? Math.max(read, few) : few
            found.push(...beyond(await filled.workFor(filled.service(), path), { read, sorted }))
          }
        }
      }
      expect(found).toEqual([])
    })

    // Words that no index helps with. The statements that find out where the page ends read as much.
    const SHORT = {
      'a letter of many tasks': 'q=e',
      'a letter of no task': 'q=%E6%9D%B1',
      'two letters of no task': 'q=zy',
      'two short words': 'q=zy%20%E6%9D%B1',
    }
    const NARROWED = [
      '',
      '&status=open',
      '&status=in_progress',
      '&source=analytics',
      '&source=assistant',
      '&priority=high',
      '&label=bug',
      '&label=none',
      '&label=rare',
      '&assignee=ada',
      '&assignee=seldom',
      '&kind=pull_request',
      '&isReady=true',
      '&isReady=false',
      '&claimed=true',
      '&claimed=false',
      '&triaged=false',
      '&snoozed=true',
      '&needsAnswer=true',
      '&createdSince=2026-01-01T00:00:00.000Z',
      '&openedSince=2026-01-01T00:00:00.000Z',
      '&updatedSince=2026-01-01T00:00:00.000Z',
      '&deleted=true',
    ]
    test.each(Object.entries(SHORT))('searched for %s examines at most 20,000 tasks', async (_, q) => {
      const found: string[] = []
      for (const sort of TaskSort) {
        for (const [place, where] of Object.entries(PLACES)) {
          // Each filter with one sort, and each place with each sort.
          for (const more of NARROWED.filter(
            (_, n) => n % TaskSort.length === TaskSort.indexOf(sort) || n === 0,
          )) {
            const path = `/api/tasks?sort=${sort}&${q}${where(filled)}${more}`
            const done = await filled.workFor(filled.service(), path)
            found.push(...beyond(done, { read: 22_000, sorted: 20_000 }).map((line) => `${place}: ${line}`))
          }
        }
      }
      expect(found).toEqual([])
    })

    const RARE = {
      'a label': 'label=RARE',
      'an assignee': 'assignee=seldom',
      'an external id': `externalId=x-${all / 2}`,
      'an issue': `codehostIssueNumber=${all / 2 + 4}`,
      'a number in a search': `q=%23${all / 2 + 4}`,
      'a time of creation': `createdSince=${new Date(Date.now() + 30_000).toISOString()}`,
      'a rare word': 'q=quokka',
      'a rare and a frequent word': 'q=quokka%20export',
      'a word in a label': 'q=rare',
    }
    test.each(Object.entries(RARE))(
      'filtered by %s that few tasks have is found by an index',
      async (_, filter) => {
        const found: string[] = []
        for (const sort of TaskSort) {
          for (const where of Object.values(PLACES)) {
            const path = `/api/tasks?sort=${sort}&${filter}${where(filled)}`
            // A search first finds out whether its place is a small one; then it reads all of it.
            const isSearch = filter.startsWith('q=') && !filter.includes('%23')
            const limits = isSearch
              ? { read: SEARCHED + MAX_READ, sorted: SEARCHED }
              : { read: MAX_READ, sorted: 2 * PAGE }
            found.push(...beyond(await filled.workFor(filled.service(), path), limits))
          }
        }
        expect(found).toEqual([])
      },
    )

    test.each(TaskSort)('of what is not done where most is, sorted by %s, has an index', async (sort) => {
      for (const app of filled.apps()) {
        for (const place of [`projectId=${filled.ids.doneProject}`, `listId=${filled.ids.doneList}`]) {
          const done = await filled.workFor(
            app,
            `/api/tasks?sort=${sort}&status=open&status=in_progress&${place}`,
          )
          expect(beyond(done, { sorted: 2 * MAX_READ })).toEqual([])
        }
      }
    })

    // A total is exact: without an index of its own, every task of the place is read.
    test.each([
      ['', 11_000],
      ['&status=open', 100_000],
      ['&label=rare', MAX_READ],
      ['&assignee=seldom', MAX_READ],
      ['&q=quokka', SEARCHED + MAX_READ],
    ])('with count=true%s counts up to 10,000', async (filter, read) => {
      const done = await filled.workFor(filled.service(), `/api/tasks?count=true&limit=1${filter}`)
      expect(Math.max(...done.map((work) => work.read || 0))).toBeLessThanOrEqual(read)
    })

    // PostgreSQL reads the table instead, which is as much: the statement timeout bounds both.
    test.each(TaskSort)(
      'of all projects and a source of no task, sorted by %s, reads each task once',
      async (sort) => {
        const done = await filled.workFor(filled.service(), `/api/tasks?sort=${sort}&source=assistant`)
        expect(Math.max(...done.map(({ read }) => read))).toBeLessThan(all * 1.01)
      },
    )
  })
}
