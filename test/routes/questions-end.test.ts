import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { codeOf, startApp, type TestApp } from '../support/app.ts'
import { claiming } from '../support/claims.ts'
import { callTool, mcpConnections } from '../support/mcp-clients.ts'
import { UNKNOWN_ID } from '../support/patterns.ts'
import { asking } from '../support/questions.ts'

let service: TestApp
let given: ReturnType<typeof claiming>
beforeAll(async () => {
  service = await startApp()
  given = claiming(service)
})
afterAll(() => service.close())

const connect = mcpConnections(() => service)

const givenProject = () => asking(service, connect).project()

const typesOf = async (id: string) => (await given.activityOf(id)).map(({ type }) => type)

describe('a question ends', () => {
  test('with the comment of anybody but an assistant, and the task is handed out again', async () => {
    const { asked, add, comment, next } = await givenProject()
    const id = await asked()
    const { question, version } = await service.task(id)

    await add(id)
    expect(await service.task(id)).toMatchObject({ question, version })
    await comment(id, { body: 'That one.' })

    expect(await service.task(id)).toMatchObject({ question: null, isReady: true, version: version + 1 })
    expect((await given.activityOf(id)).at(-1)).toMatchObject({
      type: 'task.updated',
      metadata: { changes: { question: { from: question, to: null } } },
    })
    expect((await next()).body.id).toBe(id)
  })

  test('with null in a change, and in a bulk change, but not for an assistant', async () => {
    const { asked, client } = await givenProject()
    const ids = [await asked(), await asked()]

    const refused = await callTool(client, 'update_task', { id: ids[0], question: null })
    expect([refused.isError, refused.text]).toEqual([true, expect.stringContaining('question')])
    const single = await service.patch(`/api/tasks/${ids[0]}`, { question: null })
    const bulk = await service.patch('/api/tasks/bulk', { ids, change: { question: null } })

    expect(single.body).toMatchObject({ question: null, isReady: true, version: 3 })
    expect(bulk.body).toMatchObject({ unchanged: 1, data: [{ question: null }, { question: null }] })
    for (const id of ids) {
      expect(await service.task(id)).toMatchObject({ question: null, isReady: true, version: 3 })
      expect(await typesOf(id)).toEqual(['comment.created', 'task.updated', 'task.updated'])
    }
    const other = { commentId: ids[0], askedBy: { type: 'key', id: null, name: 'x' }, askedAt: '2026-01-01' }
    for (const question of [other, {}, { commentId: 'no' }, 'no', false])
      expect(codeOf(await service.patch(`/api/tasks/${ids[0]}`, { question }))).toEqual([
        400,
        'validation_failed',
      ])
    expect(codeOf(await service.post('/api/tasks', { title: 'x', question: null }))).toEqual([
      400,
      'validation_failed',
    ])
  })

  test('and is asked again by a change that names its comment, as an undo does', async () => {
    const { asked, task, comment } = await givenProject()
    const [id, other] = [await asked(), (await task()).id]
    const { question } = await service.task(id)
    const { commentId } = question
    await service.patch(`/api/tasks/${id}`, { status: 'done' })
    await service.patch(`/api/tasks/${id}`, { question: { commentId } })
    expect(await service.task(id)).toMatchObject({ question: null, version: 3 })

    const again = await service.patch(`/api/tasks/${id}`, { status: 'open', question: { commentId } })
    expect(again.body).toMatchObject({ question, status: 'open', isReady: false })
    await comment(id)
    const bulk = { ids: [id], change: { question: { commentId } } }
    expect((await service.patch('/api/tasks/bulk', bulk)).body).toMatchObject({ data: [{ question }] })

    for (const refused of [
      await service.patch(`/api/tasks/${other}`, { question: { commentId } }),
      await service.patch('/api/tasks/bulk', { ...bulk, ids: [id, other] }),
      await service.patch(`/api/tasks/${id}`, { question: { commentId: UNKNOWN_ID } }),
    ])
      expect(codeOf(refused)).toEqual([404, 'comment_not_found'])
    expect((await service.task(other)).question).toBeNull()
  })

  test('with its comment, but not with another one', async () => {
    const { asked, add } = await givenProject()
    const id = await asked()
    const { data } = await add(id)
    const { question } = await service.task(id)
    await service.patch(`/api/comments/${question.commentId}`, { body: 'Or which?' })
    await service.delete(`/api/comments/${data.id}`)
    expect(await service.task(id)).toMatchObject({ question })

    await service.delete(`/api/comments/${question.commentId}`)

    expect(await service.task(id)).toMatchObject({ question: null, isReady: true, commentCount: 0 })
  })

  test('once the task is done or merged, and does not return when it is opened again', async () => {
    const { asked, task, client } = await givenProject()
    const [one, bulk, byAssistant] = [await asked(), await asked(), await asked()]
    const [merged, target] = [await asked(), (await task()).id]
    await service.patch(`/api/tasks/${one}`, { status: 'done' })
    await service.patch('/api/tasks/bulk', { ids: [bulk], change: { status: 'done' } })
    await callTool(client, 'update_task', { id: byAssistant, status: 'done' })
    await service.post(`/api/tasks/${merged}/merge`, { into: target })
    for (const id of [one, bulk, byAssistant, merged]) expect((await service.task(id)).question).toBeNull()

    await service.patch('/api/tasks/bulk', { ids: [one, bulk, byAssistant], change: { status: 'open' } })
    await service.post(`/api/tasks/${merged}/unmerge`)

    for (const id of [one, bulk, byAssistant, merged])
      expect(await service.task(id)).toMatchObject({ question: null, isReady: true })
  })

  test('not with a deletion that is undone', async () => {
    const { asked } = await givenProject()
    const id = await asked()
    await service.delete(`/api/tasks/${id}`)
    await service.post(`/api/tasks/${id}/restore`)
    expect(await service.task(id)).toMatchObject({ question: { askedBy: {} }, isReady: false })
  })

  test('in one order, if it is asked and answered at once', async () => {
    const { task, ask, comment } = await givenProject()
    for (let n = 0; n < 5; n++) {
      const { id } = await task()
      const [question] = await Promise.all([ask(id), comment(id, { body: 'That.' })])
      const { data } = (await service.get(`/api/tasks/${id}/comments`)).body
      const isOver = (await service.task(id)).question === null
      const types = await typesOf(id)
      expect(data.map((each: { id: string }) => each.id)).toContain(question.body.id)
      expect(types.filter((type) => type === 'task.updated')).toHaveLength(isOver ? 2 : 1)
    }
  })
})

test('a change of another field keeps what is not asked', async () => {
  const { task, asked } = await givenProject()
  const [{ id }, other] = [await task(), await asked()]
  await service.patch(`/api/tasks/${id}`, { title: 'Another title' })
  await service.patch(`/api/tasks/${other}`, { title: 'Another title' })
  expect(await service.query('select question is null as none from tasks where id = $1', [id])).toEqual([
    { none: true },
  ])
  expect(await service.task(id)).toMatchObject({ question: null, isReady: true })
  expect(await service.task(other)).toMatchObject({ question: { askedBy: {} }, isReady: false })
})
