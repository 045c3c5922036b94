import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { codeOf, startApp, type TestApp } from '../support/app.ts'
import { countAll } from '../support/overview.ts'

let service: TestApp
beforeAll(async () => {
  service = await startApp()
})
afterAll(() => service.close())

const DAY_MS = 86_400_000
const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS)

type Inbox = Awaited<ReturnType<TestApp['given']['project']>>['inbox']

const givenFeedback = (inbox: Inbox, properties: object, values: object = {}) =>
  service.given.task(inbox, { source: 'analytics', metadata: { properties }, ...values })

async function overviewOf(query: string) {
  await service.query('update overview_progress set is_filled = false, filled_to = $1', [
    '00000000-0000-0000-0000-000000000000',
  ])
  await countAll(service)
  const { status, body } = await service.get(`/api/overview/feedback?${query}`)
  expect(status).toBe(200)
  return body
}

async function givenProblem(inbox: Inbox, { title, ages }: { title: string; ages: number[] }) {
  const ids: string[] = []
  for (const age of ages) ids.push((await givenFeedback(inbox, {}, { title, openedAt: daysAgo(age) })).id)
  for (const id of ids.slice(1)) {
    expect((await service.post(`/api/tasks/${id}/merge`, { into: ids[0] })).status).toBe(200)
  }
  return ids[0]
}

describe('the overview of feedback', () => {
  test('of no feedback is empty', async () => {
    const { id, inbox } = await service.given.project()
    await service.given.task(inbox)

    expect(await overviewOf(`projectId=${id}`)).toMatchObject({ versions: [], problems: [] })
  })

  test('has the sentiments of each version in each week', async () => {
    const { id, inbox } = await service.given.project()
    for (const [sentiment, age] of [
      ['loved', 0],
      ['loved', 0],
      ['frustrated', 0],
      ['meh', 21],
      ['loved', 100],
    ] as const)
      await givenFeedback(inbox, { sentiment, app_version: '2.3.1' }, { openedAt: daysAgo(age) })
    for (const app_version of ['版本 3', '٣.١', '🚀'])
      await givenFeedback(inbox, { sentiment: 'meh', app_version })

    const { versions } = await overviewOf(`projectId=${id}`)

    const weeks = (await service.get('/api/overview?weeks=4')).body.weeks
    const none = { loved: 0, meh: 0, frustrated: 0 }
    expect(versions).toEqual(
      expect.arrayContaining([
        { ...none, version: '2.3.1', week: weeks[0].start, meh: 1 },
        { ...none, version: '2.3.1', week: weeks[3].start, loved: 2, frustrated: 1 },
        ...['版本 3', '٣.١', '🚀'].map((version) => ({ ...none, version, week: weeks[3].start, meh: 1 })),
      ]),
    )
    expect(versions).toHaveLength(5)
    expect(versions[0].week).toBe(weeks[0].start)
  })

  test.each([
    [{ sentiment: 'angry', app_version: '1' }],
    [{ sentiment: 7, app_version: '1' }],
    [{ sentiment: 'loved', app_version: 1 }],
    [{ sentiment: 'loved', app_version: '' }],
    [{ sentiment: 'loved' }],
    [{ app_version: '1' }],
  ])('does not count %j', async (properties) => {
    const { id, inbox } = await service.given.project()
    await givenFeedback(inbox, properties)

    expect((await overviewOf(`projectId=${id}`)).versions).toEqual([])
  })

  test('has at most 30 versions, those with most feedback, and cuts long ones', async () => {
    const { id, inbox } = await service.given.project()
    const long = 'x'.repeat(200)
    for (const app_version of [long, long, ...Array.from({ length: 31 }, (_, n) => `1.${n}`)])
      await givenFeedback(inbox, { sentiment: 'loved', app_version })

    const { versions } = await overviewOf(`projectId=${id}`)

    expect(versions).toHaveLength(30)
    expect(versions).toContainEqual(expect.objectContaining({ version: long.slice(0, 100), loved: 2 }))
  })

  test('has the ten tasks with most reports in these weeks', async () => {
    const { id, inbox } = await service.given.project()
    const many = await givenProblem(inbox, { title: 'Crash', ages: [14, 14, 0, 0, 0] })
    const old = await givenProblem(inbox, { title: 'Old', ages: [100, 100, 100, 100, 100, 100, 0] })
    for (let n = 0; n < 10; n++) await givenProblem(inbox, { title: `Problem ${n}`, ages: [0, 0] })
    await givenFeedback(inbox, {}, { title: 'Only one' })

    const { problems, weeks } = await overviewOf(`projectId=${id}&weeks=4`)
    const { body: overview } = await service.get('/api/overview?weeks=4')
    expect(weeks).toEqual(overview.weeks.map(({ start }: { start: string }) => start))
    expect(problems).toHaveLength(10)
    expect(problems[0]).toEqual({ taskId: many, title: 'Crash', reports: 5, weeks: [0, 2, 0, 3] })
    expect(problems[9]).toMatchObject({ reports: 2 })
    const longer = await overviewOf(`projectId=${id}&weeks=20`)
    expect(longer.problems[0]).toMatchObject({ taskId: old, reports: 7 })
  })

  test('follows what is unmerged and deleted', async () => {
    const { id, inbox } = await service.given.project()
    const target = await givenProblem(inbox, { title: 'Crash', ages: [0, 0, 0] })
    const { body } = await service.get(`/api/tasks/${target}/reports`)
    const [first, second] = body.data
    await overviewOf(`projectId=${id}`)

    await service.post(`/api/tasks/${first.id}/unmerge`)
    await countAll(service)
    const { body: fewer } = await service.get(`/api/overview/feedback?projectId=${id}`)
    expect(fewer.problems).toEqual([expect.objectContaining({ taskId: target, reports: 2 })])
    await service.delete(`/api/tasks/${second.id}`)
    await countAll(service)

    const { body: none } = await service.get(`/api/overview/feedback?projectId=${id}`)
    expect(none.problems).toEqual([])
  })

  test('is within the reach of the key', async () => {
    const mine = await service.given.project()
    const other = await service.given.project()
    for (const { inbox } of [mine, other]) {
      await givenProblem(inbox, { title: 'Crash', ages: [0, 0] })
      await givenFeedback(inbox, { sentiment: 'meh', app_version: inbox.id })
    }
    await overviewOf('')
    const key = await service.given.key({ projectId: mine.id })

    const { body } = await service.get('/api/overview/feedback', { key })
    expect(body.problems).toHaveLength(1)
    expect(body.versions.map(({ version }: { version: string }) => version)).toEqual([mine.inbox.id])
    const foreign = await service.get(`/api/overview/feedback?projectId=${other.id}`, { key })
    expect(codeOf(foreign)).toEqual([404, 'project_not_found'])
  })
})
