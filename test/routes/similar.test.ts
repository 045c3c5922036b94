import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'
import { feedback, sender, WEBHOOK_SECRET } from '../support/feedback.ts'
import { UNKNOWN_ID } from '../support/patterns.ts'

let service: TestApp
let send: ReturnType<typeof sender>
beforeAll(async () => {
  service = await startApp({ env: { WEBHOOK_SECRET } })
  send = sender(service.url, WEBHOOK_SECRET)
})
afterAll(() => service.close())

const DAY_MS = 24 * 60 * 60 * 1000

interface Similar {
  data: { task: { id: string }; similarity: number; sentiment: string | null; appVersion: string | null }[]
  unavailable: boolean
}

async function similarTo(id: string, query = ''): Promise<Similar> {
  while (await service.service.tasks.indexTexts());
  const { status, body } = await service.get(`/api/tasks/${id}/similar${query}`)
  expect(status).toBe(200)
  expect(body.unavailable).toBe(false)
  return body
}
const idsOf = ({ data }: Similar) => data.map(({ task }) => task.id)

async function givenProject() {
  const project = await service.given.project()
  return {
    ...project,
    task: async (title: string, values: object = {}) =>
      (await service.given.task(project.inbox, { title, ...values })).id,
    note: async (note?: string) => {
      const { body } = await send(feedback({ ...(note && { note }), project_id: project.id }))
      return body.taskId as string
    },
  }
}

describe('similar tasks', () => {
  test('are those with similar words, most similar first, without long fields', async () => {
    const { task } = await givenProject()
    const subject = await task('Export of a dashboard crashes the application')
    const close = await task('The export of the dashboard crashes the application')
    const same = await task('Export of a dashboard crashes the application')
    await task('Invite a colleague by e-mail')

    const { data } = await similarTo(subject)

    expect(data.map(({ task }) => task.id)).toEqual([same, close])
    expect(data[0]?.similarity).toBe(1)
    expect(data[1]?.similarity).toBeGreaterThan(0.5)
    const { description, notes, metadata, ...summary } = (await service.get(`/api/tasks/${same}`)).body
    expect(data[0]?.task).toEqual(summary)
    expect(idsOf(await similarTo(subject, '?limit=1'))).toEqual([same])
  })

  test('of feedback are compared by the whole note, not by its other properties', async () => {
    const { note } = await givenProject()
    const subject = await note('The export does nothing\nwhen I press the green button below the chart.')
    const close = await note('The export does nothing!\nI press the green button below the chart, and wait.')
    await note('Please add a dark mode, my eyes hurt at night')
    const without = [await note(), await note()]

    expect(idsOf(await similarTo(subject))).toEqual([close])
    // Without notes, all feedback of an app has the same title.
    expect(idsOf(await similarTo(without[0] as string))).toEqual([])
  })

  test('have the version and the sentiment of their feedback, if these are texts', async () => {
    const { task } = await givenProject()
    const title = 'Charts of the last quarter are drawn upside down'
    const subject = await task(title)
    const sent = [
      { sentiment: 'frustrated', app_version: 'версия "2"' },
      { sentiment: 'meh'.repeat(50), app_version: '' },
      { sentiment: 7 },
      'none',
    ]
    for (const properties of sent) await task(title, { metadata: { properties } })

    const { data } = await similarTo(subject)

    expect(data.map(({ sentiment, appVersion }) => [sentiment, appVersion])).toEqual([
      [null, null],
      [null, null],
      ['meh'.repeat(50).slice(0, 100), null],
      ['frustrated', 'версия "2"'],
    ])
  })

  test('are open or were done in the last 90 days, in the same project, and not deleted', async () => {
    const { task, inbox } = await givenProject()
    const { task: elsewhere } = await givenProject()
    const title = 'Login with a passkey fails in the browser'
    const subject = await task(title)
    const now = service.clock.now().getTime()
    const doneAt = (days: number) => ({ status: 'done', completedAt: new Date(now - days * DAY_MS) })
    const expected = [
      await task(title),
      await task(title, { status: 'in_progress' }),
      await task(title, doneAt(89)),
    ]
    await task(title, doneAt(91))
    await task(title, { deletedAt: new Date() })
    await elsewhere(title)

    expect(idsOf(await similarTo(subject)).toSorted()).toEqual(expected.toSorted())
    expect(inbox.id).toBeTruthy()
  })

  test('show the target instead of a report, and never the own reports', async () => {
    const { task } = await givenProject()
    const title = 'Search returns no result for umlauts'
    const subject = await task(title)
    const [own, other] = [await task(title), await task(title)]
    const target = await task('Encoding')
    await service.post(`/api/tasks/${own}/merge`, { into: subject })
    await service.post(`/api/tasks/${other}/merge`, { into: target })

    expect(idsOf(await similarTo(subject))).toEqual([target])
    expect(idsOf(await similarTo(own))).toEqual([target, subject].toSorted().reverse())
  })

  test('are found among many that are newer, by their words or by an equal note', async () => {
    const { task, note, inbox } = await givenProject()
    const old = await task('Synchronization stops after the certificate was renewed')
    const oldNote = await note('It is slow on my pad, too')
    await service.given.tasks(inbox, 1_100)
    const subject = await task('After we renewed our certificate, the synchronization stops')
    const newNote = await note('it is SLOW on my pad too')

    expect(idsOf(await similarTo(subject))).toEqual([old])
    expect(idsOf(await similarTo(newNote))).toEqual([oldNote])
  })

  test('of a task that does not exist, or that the key cannot access, are 404', async () => {
    const [mine, other] = [await givenProject(), await givenProject()]
    const key = await service.given.key({ projectId: mine.id, scopes: ['tasks:read'] })
    const id = await other.task('Theirs')
    for (const missing of [id, UNKNOWN_ID]) {
      const { status, body } = await service.get(`/api/tasks/${missing}/similar`, { key })
      expect([status, body.code]).toEqual([404, 'task_not_found'])
    }
    expect((await service.get(`/api/tasks/${id}/similar?limit=51`)).body.errors[0].path).toBe('query.limit')
  })
})

test('without pg_trgm, similar tasks are unavailable', async () => {
  const { task } = await givenProject()
  const subject = await task('Export of a dashboard crashes the application')
  await task('Export of a dashboard crashes the application')
  const connection = await service.connect()
  try {
    await connection.query('alter index task_texts_trigrams rename to task_texts_elsewhere')
    const { status, body } = await service.get(`/api/tasks/${subject}/similar`)
    expect([status, body]).toEqual([200, { data: [], unavailable: true }])
  } finally {
    await connection.query('alter index task_texts_elsewhere rename to task_texts_trigrams')
    connection.release()
  }
})
