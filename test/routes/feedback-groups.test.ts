import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TestApp } from '../support/app.ts'
import { tally, times } from '../support/concurrent.ts'
import { feedback, sender, WEBHOOK_SECRET } from '../support/feedback.ts'
import { startTwoInstances, type TwoInstances } from '../support/two-instances.ts'

let instances: TwoInstances
let service: TestApp
let send: ReturnType<typeof sender>
beforeAll(async () => {
  instances = await startTwoInstances({ env: { WEBHOOK_SECRET } })
  service = instances.service
  send = sender(service.url, WEBHOOK_SECRET)
})
afterAll(() => instances.close())

const NOTE = 'The export button does nothing.'

/** A project whose feedback is grouped, and a function that sends it a note. */
async function givenGrouping(groupFeedback: 'off' | 'suggest' | 'auto' = 'auto') {
  const project = await service.given.project({ groupFeedback })
  const note = async (note: string, others: object = {}) => {
    const { status, body } = await send(feedback({ note, project_id: project.id }, others))
    expect([200, 201]).toContain(status)
    return body.taskId as string
  }
  return { project, note }
}
const typesOf = async (id: string) =>
  (await service.query('select type from activity where task_id = $1 order by id', [id])).map(
    ({ type }) => type,
  )

async function countsOf(projectId: string) {
  const [row] = await service.query(
    `select count(*)::int as tasks, (count(*) filter (where merged_into is null))::int as targets,
       (count(distinct merged_into))::int as merged_into, sum(report_count)::int as reports
     from tasks where project_id = $1`,
    [projectId],
  )
  return row
}

describe('feedback with the note of open feedback', () => {
  test('becomes a report of it, at once', async () => {
    const { note } = await givenGrouping()
    const first = await note(NOTE)
    const second = await note('the export button does NOTHING')

    expect(await service.task(second)).toMatchObject({
      status: 'done',
      closedReason: 'duplicate',
      mergedInto: first,
      version: 1,
    })
    expect(await service.task(first)).toMatchObject({ status: 'open', reports: 2, version: 1 })
    expect(await typesOf(second)).toEqual(['task.created', 'feedback.received', 'task.merged'])
    expect((await typesOf(first)).at(-1)).toBe('task.report_added')
    const [event] = await service.query('select id from deliveries where tasks -> 0 ->> $2 = $1', [
      second,
      'taskId',
    ])
    expect((await service.get(`/api/deliveries/${event.id}`)).body.tasks[0].taskId).toBe(second)
    expect((await service.post(`/api/tasks/${second}/unmerge`)).body).toMatchObject({
      status: 'open',
      mergedInto: null,
    })
  })

  test.each(['off', 'suggest'] as const)('stays on its own with groupFeedback %s', async (setting) => {
    const { project, note } = await givenGrouping(setting)
    await note(NOTE)
    await note(NOTE)
    expect(await countsOf(project.id)).toMatchObject({ tasks: 2, targets: 2, reports: 0 })
    // What was received before is compared as well.
    await service.patch(`/api/projects/${project.id}`, { groupFeedback: 'auto' })
    await note(NOTE)
    expect(await countsOf(project.id)).toMatchObject({ tasks: 3, targets: 2, reports: 1 })
  })

  test('becomes a report of the oldest, never of a report, or of a task that is done or deleted', async () => {
    const { note } = await givenGrouping()
    const first = await note(NOTE)
    const second = await note(NOTE)
    await service.post(`/api/tasks/${second}/unmerge`)
    expect((await service.task(await note(NOTE))).mergedInto).toBe(first)
    await service.patch(`/api/tasks/${first}`, { status: 'done' })
    expect((await service.task(await note(NOTE))).mergedInto).toBe(second)
    await service.query('update tasks set report_count = 0 where id = $1', [second])
    await service.query('update tasks set merged_into = null where merged_into = $1', [second])
    await service.delete(`/api/tasks/${second}`)
    const fresh = await note(NOTE)
    expect((await service.task(fresh)).mergedInto).toBe(null)
    expect((await service.task(await note(NOTE))).mergedInto).toBe(fresh)
  })

  test('stays on its own if the note is short, missing, of another project, or in a task of another source', async () => {
    const { project, note } = await givenGrouping()
    const { note: elsewhere } = await givenGrouping()
    await note('It crashes.')
    await note('It crashes.')
    await send(feedback({ project_id: project.id }))
    await send(feedback({ project_id: project.id }))
    await service.post('/api/tasks', { title: NOTE, description: NOTE, listId: project.inbox.id })
    await note(NOTE)
    await elsewhere(NOTE)
    expect(await countsOf(project.id)).toMatchObject({ tasks: 6, targets: 6, reports: 0 })
  })

  test('that is repeated returns its report, and counts once', async () => {
    const { project, note } = await givenGrouping()
    const first = await note(NOTE)
    const uuid = randomUUID()
    const second = await note(NOTE, { uuid })
    expect(await note(NOTE, { uuid })).toBe(second)
    await service.patch(`/api/tasks/${first}`, { status: 'done' })
    expect(await note(NOTE, { uuid })).toBe(second)
    expect(await countsOf(project.id)).toMatchObject({ tasks: 2, targets: 1, reports: 1 })
  })
})

test('feedback has a key that is the same for equal notes, and null for short ones', async () => {
  const { project, note } = await givenGrouping('suggest')
  const keyOf = async (text: string) => (await service.task(await note(text))).noteKey
  const key = await keyOf(NOTE)
  expect(key).toEqual(expect.any(String))
  expect(await keyOf('  the EXPORT button does — nothing')).toBe(key)
  expect(await keyOf('The import button does nothing.')).not.toBe(key)
  expect(await keyOf('It crashes.')).toBe(null)
  const path = `/api/tasks?projectId=${project.id}&fields=summary&sort=createdAt`
  const { data } = (await service.get(path)).body
  expect(data.map(({ noteKey }: { noteKey: string }) => noteKey === key)).toEqual([true, true, false, false])
  const csv = await service.get(path, { headers: { accept: 'text/csv' } })
  expect(csv.body).not.toContain('noteKey')
})

describe('equal feedback at the same time, on two instances', () => {
  test('has one task, of which all others are reports', async () => {
    const { project } = await givenGrouping()
    const other = sender(instances.second.url, WEBHOOK_SECRET)
    const notes = [NOTE, 'Another note that many people send']
    const repeated = randomUUID()

    const responses = await times(60, (n) =>
      (n % 2 ? send : other)(
        feedback(
          { note: notes[n % 3 ? 0 : 1], project_id: project.id },
          // Some of them are one event, sent to both.
          n % 10 < 2 && n % 3 !== 0 ? { uuid: repeated } : {},
        ),
      ),
    )

    const statuses = tally(responses)
    expect((statuses[200] ?? 0) + (statuses[201] ?? 0)).toBe(60)
    const made = statuses[201] ?? 0
    expect(await countsOf(project.id)).toEqual({ tasks: made, targets: 2, merged_into: 2, reports: made - 2 })
  })

  test('while its target is closed, merged, and moved, loses nothing', async () => {
    const { project, note } = await givenGrouping()
    const elsewhere = await service.given.project()
    const first = await note(NOTE)
    const into = await note('The problem behind all of it')
    const change = (n: number): Promise<unknown> => {
      const path = `/api/tasks/${first}`
      if (n % 4 === 0) return service.patch(path, { status: n % 8 ? 'open' : 'done' })
      if (n % 4 === 1) return service.post(`${path}/merge`, { into })
      if (n % 4 === 2) return service.post(`${path}/unmerge`)
      return service.patch(path, { listId: n % 8 === 3 ? elsewhere.inbox.id : project.inbox.id })
    }
    await Promise.all([times(40, () => note(NOTE)), times(40, change)])

    const [row] = await service.query(
      `select count(*)::int as tasks, (count(*) filter (where report_count <> (select count(*) from tasks as reports
           where reports.merged_into = tasks.id)))::int as miscounted,
         (count(*) filter (where merged_into is not null and not exists (select from tasks as targets
           where targets.id = tasks.merged_into and targets.merged_into is null
             and targets.project_id = tasks.project_id)))::int as lost
       from tasks where project_id in ($1, $2)`,
      [project.id, elsewhere.id],
    )
    expect(row).toEqual({ tasks: 42, miscounted: 0, lost: 0 })
  })
})

test('rejected feedback that is replayed is grouped as well', async () => {
  const { project, note } = await givenGrouping()
  const first = await note(NOTE)
  const wrong = feedback({ note: NOTE, project_id: project.id, app_version: 7 })
  expect((await send(wrong)).status).toBe(400)
  const [event] = await service.query(`select id, payload from deliveries where sender_id = $1`, [wrong.uuid])
  const mended = JSON.stringify({ ...wrong, properties: { ...wrong.properties, app_version: '7' } })
  await service.query('update deliveries set payload = $2 where id = $1', [event.id, mended])

  const { status, body } = await service.post(`/api/deliveries/${event.id}/replay`)

  expect(status).toBe(200)
  expect((await service.task(body.tasks[0].taskId)).mergedInto).toBe(first)
})

test('a report, and a task with reports, are not moved by a replay', async () => {
  const { project, note } = await givenGrouping()
  const ids = [await note(NOTE), await note(NOTE)]
  const { id: targetProjectId } = await service.given.project()
  await service.post('/api/webhook-routing', { projectMatch: project.id, targetProjectId })
  for (const id of ids) {
    const [event] = await service.query('select id from deliveries where tasks -> 0 ->> $2 = $1', [
      id,
      'taskId',
    ])
    const { status, body } = await service.post(`/api/deliveries/${event.id}/replay`)
    expect([status, body.code]).toEqual([409, 'merge_conflict'])
  }
})
