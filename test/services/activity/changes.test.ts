import { afterAll, beforeAll, expect, test } from 'vitest'
import { openDatabase } from '../../../src/db/pool.ts'
import { repositories } from '../../../src/repositories/index.ts'
import { changesService } from '../../../src/services/activity/changes.ts'
import { activityFeed } from '../../../src/services/activity/feed.ts'
import { adoptDatabase, changeSequencer } from '../../../src/services/activity/sequencer.ts'
import { callerWith } from '../../support/caller.ts'
import { freshDatabase } from '../../support/postgres.ts'

let database: Awaited<ReturnType<typeof freshDatabase>>
let db: ReturnType<typeof openDatabase>
beforeAll(async () => {
  database = await freshDatabase()
  db = openDatabase({ connectionString: database.connectionString, size: 5, onError: () => {} })
})
afterAll(async () => {
  await db.$client.end()
  await database.drop()
})

const caller = callerWith({ scopes: ['tasks:read'] })

test('so many long polls of all keys may be open, and others need not wait', async () => {
  const repos = repositories(db)
  const sequencer = changeSequencer({ changes: repos.changes, adopt: () => adoptDatabase(repos.changes) })
  const feed = activityFeed({ changes: repos.changes, sequencer })
  const access = { admissionOf: async () => 'same' as const, onForget: () => () => {} }
  const changes = changesService({ repos, feed, sequencer, access, maxLongPolls: 2 })
  const endings = [new AbortController(), new AbortController()]
  const list = (wait: number, ending = new AbortController()) =>
    changes.list(caller, { query: { wait }, ending })
  const open = endings.map((ending) => list(60, ending))

  await expect.poll(() => list(1).catch(({ code }) => code), { timeout: 20_000 }).toBe('rate_limited')
  expect(await list(0)).toMatchObject({ items: '', hasMore: false })

  for (const ending of endings) ending.abort()
  for (const page of await Promise.all(open)) expect(page).toMatchObject({ items: '' })
  expect(await list(1)).toMatchObject({ items: '' })
  await feed.idle()
})
