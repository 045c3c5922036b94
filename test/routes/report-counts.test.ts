import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type CallOptions, startApp, type TestApp } from '../support/app.ts'
import { UNKNOWN_ID } from '../support/patterns.ts'
import { person } from '../support/people.ts'
import { reportsOn } from '../support/reports.ts'

let service: TestApp
beforeAll(async () => {
  service = await startApp()
})
afterAll(() => service.close())

const { merge, reportsOf, givenTasks } = reportsOn(() => service)

const countsOf = (ids: string[], options?: CallOptions) =>
  service.get(`/api/tasks/report-counts?${ids.map((id) => `id=${id}`).join('&')}`, options)

const NOTHING = { sentiments: [], appVersions: [], firstOpenedAt: null, lastOpenedAt: null, tasks: [] }

/** A project with a function that gives it feedback of a day of June. */
async function givenFeedback() {
  const { id: projectId, inbox } = await service.given.project()
  const feedback = async (day: number, properties: unknown) =>
    (
      await service.given.task(inbox, {
        source: 'analytics',
        metadata: { properties },
        openedAt: new Date(`2026-06-${String(day).padStart(2, '0')}T10:00:00.000Z`),
      })
    ).id
  return { projectId, inbox, feedback }
}

/** Thousands of reports of a task, whose ids have a prefix. */
const givenReports = (into: string, prefix: string, sentiment: string) =>
  service.query(
    `insert into tasks select (jsonb_populate_record(tasks, jsonb_build_object(
         'id', $2::text || lpad(to_hex(n), 12, '0'), 'merged_into', id, 'status', 'done', 'completed_at', now(),
         'metadata', jsonb_build_object('properties', jsonb_build_object('sentiment', $3::text))))).*
       from tasks, generate_series(1, 6000) as n where id = $1`,
    [into, prefix, sentiment],
  )

describe('the counts of tasks and their reports', () => {
  test('are of all of them together, each once', async () => {
    const { feedback } = await givenFeedback()
    const first = await feedback(5, { sentiment: 'frustrated', app_version: '2.3.1' })
    const second = await feedback(6, { sentiment: 'frustrated', app_version: '2.3.0' })
    const reports = [
      await feedback(2, { sentiment: 'meh', app_version: '2.3.1' }),
      await feedback(9, { sentiment: 'frustrated', app_version: '2.3.1' }),
    ]
    for (const id of reports) await merge(id, first)
    const deleted = await feedback(1, { sentiment: 'loved', app_version: '1.0' })
    await merge(deleted, second)
    await service.delete(`/api/tasks/${deleted}`)
    await feedback(20, { sentiment: 'loved', app_version: '9.9' })
    const expected = {
      sentiments: [
        { name: 'frustrated', count: 3 },
        { name: 'meh', count: 1 },
      ],
      appVersions: [
        { name: '2.3.1', count: 3 },
        { name: '2.3.0', count: 1 },
      ],
      firstOpenedAt: '2026-06-02T10:00:00.000Z',
      lastOpenedAt: '2026-06-09T10:00:00.000Z',
    }

    const { status, body } = await countsOf([first, second])
    expect(status).toBe(200)
    expect(body).toEqual({ ...expected, tasks: expect.any(Array) })
    // A report of one that is counted, one that is named twice, and one that does not exist.
    const named = [first, first.toUpperCase(), second, reports[0] as string, UNKNOWN_ID, deleted]
    expect((await countsOf(named)).body).toMatchObject(expected)
    expect((await countsOf([reports[0] as string])).body).toMatchObject({
      sentiments: [{ name: 'meh', count: 1 }],
    })
    expect((await countsOf([deleted])).body).toEqual(NOTHING)
    const { tasks, ...counts } = (await countsOf([first])).body
    expect((await reportsOf(first, '?count=true')).counts).toEqual(counts)
    expect(tasks).toEqual([{ id: first, ...counts }])
  })

  test('are also of each task with its own reports', async () => {
    const { feedback } = await givenFeedback()
    const first = await feedback(5, { sentiment: 'meh', app_version: '2.0' })
    const second = await feedback(6, { sentiment: 'meh', app_version: '3.0' })
    const plain = await feedback(7, {})
    const reports = [await feedback(2, { sentiment: 'loved' }), await feedback(3, { sentiment: 'meh' })]
    for (const id of reports) await merge(id, first)
    const [loved = '', other = ''] = reports
    const asked = [second, plain, UNKNOWN_ID, first.toUpperCase(), first]
    const { sentiments, tasks } = (await countsOf(asked)).body
    expect(sentiments).toEqual([
      { name: 'meh', count: 3 },
      { name: 'loved', count: 1 },
    ])
    const ofSecond = {
      id: second,
      sentiments: [{ name: 'meh', count: 1 }],
      appVersions: [{ name: '3.0', count: 1 }],
      firstOpenedAt: '2026-06-06T10:00:00.000Z',
      lastOpenedAt: '2026-06-06T10:00:00.000Z',
    }
    expect(tasks).toEqual([
      {
        id: first,
        sentiments: [
          { name: 'meh', count: 2 },
          { name: 'loved', count: 1 },
        ],
        appVersions: [{ name: '2.0', count: 1 }],
        firstOpenedAt: '2026-06-02T10:00:00.000Z',
        lastOpenedAt: '2026-06-05T10:00:00.000Z',
      },
      ofSecond,
      expect.objectContaining({ id: plain, sentiments: [], appVersions: [] }),
    ])
    // A report that is named itself is counted there.
    expect((await countsOf([loved, first])).body.tasks).toEqual([
      expect.objectContaining({ id: first, sentiments: [{ name: 'meh', count: 2 }] }),
      expect.objectContaining({ id: loved, sentiments: [{ name: 'loved', count: 1 }] }),
    ])
    expect((await countsOf([other])).body.tasks).toHaveLength(1)
  })

  test('have nothing of tasks that the caller cannot access', async () => {
    const [mine, other] = [await givenFeedback(), await givenFeedback()]
    const seen = await mine.feedback(3, { sentiment: 'meh', app_version: '1.0' })
    const hidden = await other.feedback(4, { sentiment: 'loved', app_version: '2.0' })
    await merge(await other.feedback(5, { sentiment: 'loved' }), hidden)
    const own = (await countsOf([seen])).body
    expect((await countsOf([seen, hidden])).body.sentiments).toHaveLength(2)

    const { projectId } = mine
    const { id: another } = await service.given.project()
    const callers = [
      { key: await service.given.key({ projectId, scopes: ['tasks:read'] }) },
      (await person(service, { projectIds: [projectId] })).with,
      (await person(service, { projectIds: [projectId, another] })).with,
    ]
    for (const caller of callers) {
      expect((await countsOf([seen, hidden], caller)).body).toEqual(own)
      expect((await countsOf([hidden], caller)).body).toEqual(NOTHING)
    }
  })

  test('have texts in any script, cut at 100 characters, and nothing that is no text', async () => {
    const { feedback } = await givenFeedback()
    const ids = [
      await feedback(1, { sentiment: 'тест "\\', app_version: '🔥'.repeat(150) }),
      await feedback(1, { sentiment: 'متعب', app_version: `${'🔥'.repeat(100)}x` }),
      await feedback(1, { sentiment: 7, app_version: { a: 1 } }),
      await feedback(1, { sentiment: '', app_version: null }),
      await feedback(1, 'none'),
    ]
    const { sentiments, appVersions } = (await countsOf(ids)).body
    expect(sentiments).toHaveLength(2)
    for (const name of ['тест "\\', 'متعب']) expect(sentiments).toContainEqual({ name, count: 1 })
    expect(appVersions).toEqual([{ name: '🔥'.repeat(100), count: 2 }])
  })

  test('are of at most 100 tasks, and of the newest 10,000 with their reports', async () => {
    const [first, second] = (await givenTasks(2)).ids
    await givenReports(first, '0197f000-0000-7000-8000-', 'old')
    await givenReports(second, '0198f000-0000-7000-8000-', 'new')
    const counted = async (...ids: string[]) => (await countsOf(ids)).body.sentiments
    expect(await counted(first)).toEqual([{ name: 'old', count: 6_000 }])
    expect(await counted(first, second)).toEqual([
      { name: 'new', count: 6_000 },
      { name: 'old', count: 3_998 },
    ])
    expect((await countsOf(Array(100).fill(second))).status).toBe(200)
    const refused = [await countsOf(Array(101).fill(second)), await countsOf([]), await countsOf(['x'])]
    expect(refused.map(({ status, body }) => [status, body.code])).toEqual(
      Array(3).fill([400, 'validation_failed']),
    )
  })
})
