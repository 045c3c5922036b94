import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startApp, type TestApp } from '../../support/app.ts'
import { feedback, storing } from '../../support/feedback.ts'
import { countAll, countedBy, recountedFrom } from '../../support/overview.ts'

/* The counts of the overview equal those of the tables after any history, whoever counts meanwhile. */

let first: TestApp
let second: TestApp
const lists: string[] = []
beforeAll(async () => {
  first = await startApp()
  second = await startApp({ connectionString: first.connectionString })
  for (let n = 0; n < 2; n++) lists.push((await first.given.project()).inbox.id)
})
afterAll(async () => {
  await second.close()
  await first.close()
})

const nth = fc.nat(99)
const status = fc.constantFrom('open', 'in_progress', 'done')
/** Around a new year, a change of clocks, and the end of a week; and ahead of all clocks. */
const time = fc.constantFrom(
  '2026-12-31T23:59:59.999Z',
  '2027-01-01T00:00:00.000Z',
  '2026-03-29T01:30:00.000Z',
  '2026-11-22T23:59:59.999Z',
  '2026-11-23T00:00:00.000Z',
  '2016-11-01T12:00:00.000Z',
  '2999-11-01T12:00:00.000Z',
)
const step = fc.oneof(
  fc.record({ do: fc.constant('create' as const), list: fc.nat(1), triaged: fc.boolean() }),
  fc.record({ do: fc.constant('bulk' as const), list: fc.nat(1), count: fc.integer({ min: 1, max: 5 }) }),
  fc.record({
    do: fc.constant('feedback' as const),
    note: fc.constantFrom('Crash', 'Slow', ''),
    sentiment: fc.constantFrom('loved', 'meh', 'frustrated'),
    app_version: fc.constantFrom('2.3.1', '٢.٤', '版本3'),
  }),
  fc.record({ do: fc.constant('change' as const), nth, change: fc.record({ status }) }),
  fc.record({ do: fc.constant('change' as const), nth, change: fc.record({ triaged: fc.boolean() }) }),
  fc.record({ do: fc.constant('snooze' as const), nth, isOver: fc.boolean() }),
  fc.record({ do: fc.constant('move' as const), nth, list: fc.nat(1) }),
  fc.record({ do: fc.constant('merge' as const), nth, into: nth }),
  fc.record({ do: fc.constantFrom('unmerge' as const, 'delete' as const, 'restore' as const), nth }),
  fc.record({ do: fc.constant('comment' as const), nth }),
  fc.record({
    do: fc.constant('times' as const),
    nth,
    column: fc.constantFrom('opened_at', 'completed_at'),
    time,
  }),
  fc.record({
    do: fc.constant('metadata' as const),
    nth,
    sentiment: fc.constantFrom('loved', 'angry', 7, null),
    version: fc.constantFrom('2.4.0', 3, undefined),
  }),
  fc.record({ do: fc.constant('purge' as const) }),
  fc.record({ do: fc.constant('restart' as const) }),
)

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

async function take(step: Step, ids: string[]) {
  const id = 'nth' in step ? ids[step.nth % ids.length] : undefined
  const task = `/api/tasks/${id}`
  switch (step.do) {
    case 'create': {
      const { status, body } = await first.post('/api/tasks', {
        title: 'A',
        listId: lists[step.list],
        triaged: step.triaged,
      })
      expect(status).toBe(201)
      return ids.push(body.id)
    }
    case 'bulk': {
      const tasks = Array.from({ length: step.count }, () => ({ title: 'A' }))
      const { body } = await second.post('/api/tasks/bulk', { listId: lists[step.list], tasks })
      return ids.push(...body.data.map(({ id }: { id: string }) => id))
    }
    case 'feedback': {
      const { do: _, ...properties } = step
      await storing(first, feedback(properties))
      const rows = await first.query(
        `select id from tasks where source = 'analytics' order by id desc limit 1`,
      )
      return ids.push(...rows.map(({ id }) => id))
    }
    case 'metadata': {
      const properties = { sentiment: step.sentiment, app_version: step.version }
      return id && second.patch(task, { metadata: { properties } })
    }
    case 'change':
      return id && second.patch(task, step.change)
    case 'snooze': {
      if (!id) return
      await first.patch(task, { snoozedUntil: new Date(Date.now() + 3_600_000).toISOString() })
      if (!step.isOver) return
      await first.query(
        `update tasks set snoozed_until = now() where id = $1 and snoozed_until is not null`,
        [id],
      )
      return second.service.tasks.wake()
    }
    case 'move':
      return id && first.patch(task, { listId: lists[step.list] })
    case 'merge':
      return id && second.post(`${task}/merge`, { into: ids[step.into % ids.length] })
    case 'unmerge':
    case 'restore':
      return id && first.post(`${task}/${step.do}`)
    case 'delete':
      return id && second.delete(task)
    case 'comment':
      return id && first.post(`${task}/comments`, { body: 'Text' })
    case 'times':
      return (
        id &&
        first.query(`update tasks set ${step.column} = $2 where id = $1 and ${step.column} is not null`, [
          id,
          step.time,
        ])
      )
    case 'purge':
      return first.query('delete from tasks where deleted_at is not null and merged_into is null')
    case 'restart':
      await second.close()
      second = await startApp({ connectionString: first.connectionString })
  }
}
test('the counts are exact after any history, while two instances count at once', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40 }), async (steps) => {
      const ids: string[] = []
      const passes: Promise<unknown>[] = []
      for (const [index, step] of steps.entries()) {
        await take(step, ids)
        if (index % 3 === 0) await first.service.sequencer.catchUp()
        const counting = [first, second].map(({ service }) => service.overviewCounting.work())
        if (index % 2 === 0) await Promise.all(counting)
        else passes.push(...counting.map((each) => each.catch(() => {})))
      }
      await Promise.all(passes)
      await countAll(first)
      expect(await countedBy(first)).toEqual(await recountedFrom(first))
    }),
    { numRuns: 25 },
  )
}, 300_000)

const TABLES = [
  'opened_weeks',
  'closed_weeks',
  'feedback_weeks',
  'report_weeks',
  'untriaged_counts',
  'counted_tasks',
  'overview_progress',
]

test('counting the tasks from before gives the same', async () => {
  const followed = await countedBy(first)
  for (const table of TABLES) await first.query(`delete from ${table}`)

  await countAll(first)

  expect(await countedBy(first)).toEqual(followed)
})
