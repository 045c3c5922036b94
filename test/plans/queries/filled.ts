import { afterAll, beforeAll, describe, expect } from 'vitest'
import { type CallOptions, startApp, type TestApp } from '../../support/app.ts'
import { DONE_PROJECT, type Filling, fillWithTasks, OLD_PROJECT } from '../../support/many-tasks.ts'
import { explaining, type Work, workOf } from '../../support/plans.ts'
import { freshDatabase } from '../../support/postgres.ts'
import { describeClaims } from './claims.ts'
import { describeOtherLists } from './other-lists.ts'
import { describePages } from './pages.ts'
import { describeSeveralProjects } from './several-projects.ts'

/** A service with many tasks, whose connections tell what PostgreSQL does for each statement. */
export interface Filled {
  count: number
  service(): TestApp
  /** The same service, and one on connections that plan each statement without its values, as PostgreSQL may. */
  apps(): TestApp[]
  /** The ids of places. */
  ids: Record<string, string>
  /** A key of one project. */
  key(): string
  /** With the ids of places for their names. */
  named(path: string, more?: Record<string, string>): string
  /** What PostgreSQL did for a request. */
  workFor(app: TestApp, path: string, options?: CallOptions): Promise<Work[]>
  /** What it did since the last call of `forget`. */
  works(): Work[]
  forget(): void
}

/**
 * What PostgreSQL reads for each list at so many tasks. Rows are counted, because they are the same on any machine. Not in
 * the suite: filling the tables takes a minute.
 */
export function describePlans(name: string, filling: Filling): void {
  let service: TestApp
  let generic: TestApp
  let database: Awaited<ReturnType<typeof freshDatabase>>
  let key: string
  let works: Work[] = []
  const ids: Record<string, string> = {}

  beforeAll(async () => {
    database = await freshDatabase()
    await fillWithTasks(database.connectionString, filling)
    const onNotice = (notice: string) => {
      const work = workOf(notice)
      if (work) works.push(work)
    }
    const { connectionString } = database
    service = await startApp({ connectionString: explaining(connectionString), onNotice })
    const settings = { plan_cache_mode: 'force_generic_plan' }
    generic = await startApp({ connectionString: explaining(connectionString, settings), onNotice })
    Object.assign(ids, await placesOf(service))
    key = await service.given.key({ projectId: ids.usualProject })
    const [counts] = await service.query('select count(*)::integer as all from tasks')
    expect(counts.all).toBe(filling.count)
  }, 600_000)
  afterAll(async () => {
    await generic?.close()
    await service?.close()
    await database?.drop()
  })

  const filled: Filled = {
    count: filling.count,
    service: () => service,
    apps: () => [service, generic],
    ids,
    key: () => key,
    named(path, more = {}) {
      const names = { ...ids, ...more }
      return path.replaceAll(/\{(\w+)\}/g, (_, name) => names[name] ?? '')
    },
    async workFor(app, path, options) {
      works = []
      const { status, body } = await app.get(path, options)
      expect([path, status, body.code]).toEqual([path, 200, undefined])
      return works
    },
    works: () => works,
    forget() {
      works = []
    },
  }
  describe(name, () => {
    describePages(filled)
    describeOtherLists(filled)
    describeClaims(filled)
    describeSeveralProjects(filled)
  })
}

async function placesOf(service: TestApp): Promise<Record<string, string>> {
  const places = await service.query(
    `select lists.id as list, project_id as project, lists.name from lists
     where lists.name in ('Project 3, list 3', '${DONE_PROJECT}, list 3', '${OLD_PROJECT}, list 0')`,
  )
  const kinds = new Map([
    ['Project 3', 'usual'],
    [DONE_PROJECT, 'done'],
    [OLD_PROJECT, 'old'],
  ])
  return Object.fromEntries(
    places.flatMap(({ list, project, name }) => {
      const kind = kinds.get(name.split(',')[0])
      return [
        [`${kind}List`, list],
        [`${kind}Project`, project],
      ]
    }),
  )
}
