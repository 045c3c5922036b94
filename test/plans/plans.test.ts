import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { encodeCursor } from '../../src/domain/cursor.ts'
import { TaskSort } from '../../src/schemas/task-query.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { DONE_PROJECT, fillWithMillionTasks, OLD_COUNT, OLD_PROJECT } from '../support/million-tasks.ts'
import { beyond, explaining, type Limits, MAX_READ, PAGE, type Work, workOf } from '../support/plans.ts'
import { freshDatabase } from '../support/postgres.ts'

/*
 * What PostgreSQL reads for each list at a million tasks. Rows are counted, because they are the same on any machine. Not in
 * the suite: filling the tables takes a minute.
 */

/** A sort may have a page of each of the ten lists of a project. */
const LISTS = 10
/** The rows of a project. */
const MAX_WALK = 45_000
const TRASH = 10_000
/** So many tasks make a place large for a search. */
const SEARCHED = 6_001
const ALL = 1_000_000
const NAMES = { read: 21_100, sorted: 20_000 }

let service: TestApp
/** The same service, on connections that plan each statement without its values, as PostgreSQL may. */
let generic: TestApp
let database: Awaited<ReturnType<typeof freshDatabase>>
let key: string
let works: Work[] = []
const ids: Record<string, string> = {}

beforeAll(async () => {
  database = await freshDatabase()
  await fillWithMillionTasks(database.connectionString)
  const onNotice = (notice: string) => {
    const work = workOf(notice)
    if (work) works.push(work)
  }
  const url = explaining(database.connectionString)
  service = await startApp({ connectionString: url, onNotice })
  const settings = { plan_cache_mode: 'force_generic_plan' }
  generic = await startApp({ connectionString: explaining(database.connectionString, settings), onNotice })
  const places = await service.query(
    `select lists.id as list, project_id as project, lists.name from lists
     where lists.name in ('Project 3, list 3', '${DONE_PROJECT}, list 3', '${OLD_PROJECT}, list 0')`,
  )
  const kinds = new Map([
    ['Project 3', 'usual'],
    [DONE_PROJECT, 'done'],
    [OLD_PROJECT, 'old'],
  ])
  for (const { list, project, name } of places) {
    const kind = kinds.get(name.split(',')[0])
    Object.assign(ids, { [`${kind}List`]: list, [`${kind}Project`]: project })
  }
  key = await service.given.key({ projectId: ids.usualProject })
  const [counts] = await service.query('select count(*)::integer as all from tasks')
  expect(counts.all).toBe(ALL)
}, 300_000)
afterAll(async () => {
  await generic?.close()
  await service?.close()
  await database?.drop()
})

const PLACES = {
  'all projects': () => '',
  'all projects, archived too': () => '&includeArchived=true',
  'a project': () => `&projectId=${ids.usualProject}`,
  'a project of old tasks': () => `&projectId=${ids.oldProject}`,
  'a list': () => `&listId=${ids.usualList}`,
  'a list of old tasks': () => `&listId=${ids.oldList}`,
  'a list, with its project': () => `&listId=${ids.usualList}&projectId=${ids.usualProject}`,
}
type Place = keyof typeof PLACES

/** What PostgreSQL did for a request. */
async function workFor(app: TestApp, path: string, options: { key?: string } = {}): Promise<Work[]> {
  works = []
  const { status, body } = await app.get(path, options)
  expect([path, status, body.code]).toEqual([path, 200, undefined])
  return works
}

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
async function cursorOf(sort: TaskSort): Promise<string> {
  const [row] = await service.query('select id from tasks order by id offset 500000 limit 1')
  return `&cursor=${encodeCursor(sort, { key: KEYS[sort], id: row.id })}`
}

describe('a page of tasks', () => {
  test.each(
    TaskSort.flatMap((sort) => (Object.keys(PLACES) as Place[]).map((place) => [sort, place] as const)),
  )('sorted by %s, of %s, is read in the order of an index', async (sort, place) => {
    // Those with reports, and the others.
    const parts = sort === '-reports' ? 2 : 1
    const sorted = place.startsWith('a project') ? LISTS * PAGE : parts * PAGE
    for (const app of [service, generic]) {
      for (const cursor of ['', await cursorOf(sort)]) {
        for (const fields of ['', '&fields=summary']) {
          const path = `/api/tasks?sort=${sort}${PLACES[place]()}${cursor}${fields}`
          expect(beyond(await workFor(app, path), { sorted })).toEqual([])
        }
      }
    }
  })

  test.each(TaskSort)(
    'sorted by %s, for a key of one project, is read in the order of an index',
    async (sort) => {
      for (const app of [service, generic]) {
        const done = await workFor(app, `/api/tasks?sort=${sort}`, { key })
        expect(beyond(done, { sorted: LISTS * PAGE })).toEqual([])
      }
    },
  )

  test.each(['-createdAt', 'createdAt'])(
    'of a list and a status, sorted by %s, has an index',
    async (sort) => {
      for (const list of [ids.usualList, ids.oldList]) {
        for (const status of ['open', 'in_progress', 'done']) {
          expect(
            beyond(await workFor(service, `/api/tasks?sort=${sort}&listId=${list}&status=${status}`)),
          ).toEqual([])
        }
      }
    },
  )

  test.each(['-updatedAt', 'updatedAt'])(
    'of the trash, by time of deletion (%s), has an index',
    async (sort) => {
      for (const app of [service, generic]) {
        for (const place of ['', `&projectId=${ids.usualProject}`, `&projectId=${ids.oldProject}`]) {
          expect(beyond(await workFor(app, `/api/tasks?deleted=true&sort=${sort}${place}`))).toEqual([])
        }
      }
    },
  )

  const FILTERS = {
    'a frequent status': 'status=open',
    'a rare status': 'status=in_progress',
    'no claim': 'claimed=false',
    'a claim': 'claimed=true',
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
    'a pull request': 'codehostPrNumber=500007',
    'a frequent word': 'q=export',
    'a rare word': 'q=quokka',
    'a word of no task': 'q=zzyzx',
  }
  test.each(Object.entries(FILTERS))('filtered by %s reads no more than its place', async (_, filter) => {
    const found: string[] = []
    for (const sort of TaskSort) {
      for (const [place, where] of Object.entries(PLACES)) {
        const read = place.startsWith('all') ? ALL : place.includes('old') ? OLD_COUNT + MAX_READ : MAX_WALK
        for (const trash of ['', '&deleted=true']) {
          const path = `/api/tasks?sort=${sort}&${filter}${where()}${trash}`
          // What an index of its own finds is sorted, and so is the trash, unless it is sorted by time of deletion.
          // So are the open tasks of a list, of which there are few in most.
          const sorted = filter === FILTERS['what is ready'] ? read : TRASH
          found.push(...beyond(await workFor(service, path), { read, sorted }))
        }
      }
    }
    expect(found).toEqual([])
  })

  const RARE = {
    'a label': 'label=RARE',
    'an assignee': 'assignee=seldom',
    'an external id': 'externalId=x-500000',
    'an issue': 'codehostIssueNumber=500004',
    'a number in a search': 'q=%23500004',
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
          const path = `/api/tasks?sort=${sort}&${filter}${where()}`
          // A search first finds out whether its place is a small one; then it reads all of it.
          const isSearch = filter.startsWith('q=') && !filter.includes('%23')
          const limits = isSearch
            ? { read: SEARCHED + MAX_READ, sorted: SEARCHED }
            : { read: MAX_READ, sorted: 2 * PAGE }
          found.push(...beyond(await workFor(service, path), limits))
        }
      }
      expect(found).toEqual([])
    },
  )

  test.each(TaskSort)('of what is not done where most is, sorted by %s, has an index', async (sort) => {
    for (const app of [service, generic]) {
      for (const place of [`projectId=${ids.doneProject}`, `listId=${ids.doneList}`]) {
        const done = await workFor(app, `/api/tasks?sort=${sort}&status=open&status=in_progress&${place}`)
        expect(beyond(done, { sorted: 2 * MAX_READ })).toEqual([])
      }
    }
  })

  // A total is exact: without an index of its own, every task of the place is read.
  test.each([
    ['', 10_100],
    ['&status=open', 100_000],
    ['&label=rare', MAX_READ],
    ['&assignee=seldom', MAX_READ],
    ['&q=quokka', SEARCHED + MAX_READ],
  ])('with count=true%s counts up to 10,000', async (filter, read) => {
    const done = await workFor(service, `/api/tasks?count=true&limit=1${filter}`)
    expect(Math.max(...done.map((work) => work.read || 0))).toBeLessThanOrEqual(read)
  })

  // PostgreSQL reads the table instead, which is as much: the statement timeout bounds both.
  test.each(TaskSort)(
    'of all projects and a source of no task, sorted by %s, reads each task once',
    async (sort) => {
      const done = await workFor(service, `/api/tasks?sort=${sort}&source=assistant`)
      expect(Math.max(...done.map(({ read }) => read))).toBeLessThan(ALL * 1.01)
    },
  )
})

describe('a page of other lists', () => {
  const ACTIVITY = {
    all: '',
    'a task': '&taskId={task}',
    'a project': '&projectId={usualProject}',
    'a project of old tasks': '&projectId={oldProject}',
    'a type': '&type=task.created',
    'a type of no activity': '&type=no.such',
    'an actor': '&actorId={actor}',
    'some months': '&since=2026-01-01T00:00:00.000Z',
    'a project since a time': '&projectId={oldProject}&since=2026-10-01T00:00:00.000Z',
    'a project and a type': '&projectId={usualProject}&type=task.created',
  }
  test.each(Object.entries(ACTIVITY))('of the activity of %s has an index', async (_, filter) => {
    const [row] = await service.query(
      'select id, task_id, actor_id from activity order by id offset 150000 limit 1',
    )
    const path = `/api/activity?${named(filter, { task: row.task_id, actor: row.actor_id })}`
    for (const app of [service, generic]) {
      for (const cursor of ['', `&cursor=${encodeCursor('activity', { key: null, id: row.id })}`]) {
        expect(beyond(await workFor(app, path + cursor))).toEqual([])
      }
    }
  })

  test.each(['', '&type=task.created', '&since=2026-01-01T00:00:00.000Z'])(
    'of activity%s, for a key of one project, has an index',
    async (filter) => {
      expect(beyond(await workFor(service, `/api/activity?${filter}`, { key }))).toEqual([])
    },
  )

  test.each([
    // For each project, its lists are read.
    ['/api/projects', { read: 5_000 }],
    ['/api/projects/{usualProject}/lists'],
    ['/api/keys'],
    ['/api/sessions'],
    ['/api/rules/{rule}/versions'],
    ['/api/analytics/events'],
    ['/api/analytics/events?outcome=rejected'],
    ['/api/codehost/{usualProject}/syncs'],
    // Not paged: the most used of at most 20,000 names.
    ['/api/labels', NAMES],
    ['/api/assignees', NAMES],
    ['/api/labels?projectId={usualProject}', NAMES],
    ['/api/labels?q=name%201', NAMES],
  ] as [string, Limits?][])('%s has an index', async (path, limits) => {
    const [rule] = await service.query('select id from rules limit 1')
    expect(beyond(await workFor(service, named(path, { rule: rule.id })), limits)).toEqual([])
  })
})

describe('claiming the next task', () => {
  const PLACES_TO_CLAIM = {
    'all projects': {},
    'a project': { projectId: 'usualProject' },
    'a project of old tasks': { projectId: 'oldProject' },
    'a list': { listId: 'usualList' },
    'a list of old tasks': { listId: 'oldList' },
  }
  test.each(Object.entries(PLACES_TO_CLAIM))('of %s is read in the order of an index', async (_, place) => {
    const body = Object.fromEntries(Object.entries(place).map(([name, id]) => [name, ids[id]]))
    for (const app of [service, generic]) {
      for (const atOnce of [1, 32]) {
        works = []
        const claims = await Promise.all(
          Array.from({ length: atOnce }, () => app.post('/api/tasks/claim', body)),
        )
        expect(claims.map(({ status }) => status)).toEqual(Array(atOnce).fill(200))
        // The open tasks of a list are sorted unless they are many; a batch is sorted.
        const limits = 'listId' in place ? { read: 2 * MAX_READ, sorted: MAX_READ } : { sorted: 2 * PAGE }
        expect(beyond(works, limits)).toEqual([])
      }
    }
  })

  test.each(['label', 'source'])(
    'with a %s of no open task reads no more than the open ones',
    async (filter) => {
      works = []
      const body = {
        projectId: ids.usualProject,
        ...(filter === 'label' ? { label: 'none such' } : { source: 'webhook' }),
      }
      expect((await service.post('/api/tasks/claim', body)).status).toBe(204)
      expect(beyond(works, { read: MAX_WALK })).toEqual([])
    },
  )
})

function named(path: string, more: Record<string, string>): string {
  const names = { ...ids, ...more }
  return path.replaceAll(/\{(\w+)\}/g, (_, name) => names[name] ?? '')
}
