import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { codeOf, startApp, type TestApp } from '../support/app.ts'
import { claiming } from '../support/claims.ts'
import { callTool, mcpConnections } from '../support/mcp-clients.ts'
import { TIMESTAMP, UUID } from '../support/patterns.ts'
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

const listed = async (query: string) =>
  (await service.get(`/api/tasks?${query}`)).body.data.map(({ id }: { id: string }) => id)

describe('a question', () => {
  test('ends the claim of the caller, and keeps the task from being ready', async () => {
    const { id: projectId, claimed, ask, next, key } = await givenProject()
    const { id, claim } = await claimed()

    const { status, body: comment } = await ask(id, { key })

    const question = {
      commentId: comment.id,
      askedBy: { type: 'key', id: expect.stringMatching(UUID), name: 'worker' },
      askedAt: expect.stringMatching(TIMESTAMP),
    }
    expect([status, comment.body]).toEqual([201, 'Which?'])
    const task = await service.task(id)
    expect(task).toMatchObject({
      ...{ status: 'open', claim: null, isReady: false, triaged: true, commentCount: 1, version: 3 },
      question,
    })
    expect(await given.activityOf(id)).toMatchObject([
      { type: 'task.claimed' },
      { type: 'comment.created' },
      { type: 'task.claim_released', metadata: { number: claim.number } },
      {
        type: 'task.updated',
        metadata: { changes: { question: { from: null, to: question } } },
        actor_name: 'worker',
      },
    ])
    expect((await next()).status).toBe(204)
    const refused = await service.post(`/api/tasks/${id}/claim`, undefined, { key })
    expect(codeOf(refused)).toEqual([409, 'task_not_ready'])
    expect(refused.body.detail).toContain('answer')
    expect(await listed(`projectId=${projectId}&isReady=true`)).toEqual([])
    expect(await listed(`projectId=${projectId}&isReady=false`)).toEqual([id])
  })

  test('is found by needsAnswer, in whole tasks and in summaries', async () => {
    const { id: projectId, asked, task } = await givenProject()
    const [id, other] = [await asked(), (await task()).id]

    expect(await listed(`projectId=${projectId}&needsAnswer=true`)).toEqual([id])
    expect(await listed(`projectId=${projectId}&needsAnswer=false`)).toEqual([other])
    const [summary] = (await service.get(`/api/tasks?projectId=${projectId}&needsAnswer=true&fields=summary`))
      .body.data
    expect(summary.question).toEqual((await service.task(id)).question)
    expect((await service.get('/api/tasks?needsAnswer=perhaps')).status).toBe(400)
  })

  test('is replaced by the next one', async () => {
    const { asked, ask } = await givenProject()
    const id = await asked()
    const first = (await service.task(id)).question

    const { body: second } = await ask(id)

    expect((await service.task(id)).question).toMatchObject({ commentId: second.id })
    const changes = (await given.activityOf(id)).at(-1).metadata.changes
    expect(changes.question).toMatchObject({ from: first, to: { commentId: second.id } })
  })

  test('that was asked twice at once is one of the two', async () => {
    const { task, ask } = await givenProject()
    const { id } = await task()

    const [one, other] = await Promise.all([ask(id), ask(id)])

    expect([one.status, other.status]).toEqual([201, 201])
    const { question, commentCount, version } = await service.task(id)
    expect([one.body.id, other.body.id]).toContain(question.commentId)
    expect([commentCount, version]).toEqual([2, 3])
  })

  test('of somebody who has not claimed the task overrides the claim, unless an assistant asks', async () => {
    const { claimed, ask, client } = await givenProject()
    const another = await connect({ key: await service.given.key({ scopes: ['tasks:read', 'tasks:write'] }) })
    const [{ id, claim }, { id: own }] = [await claimed(), await claimed()]

    const refused = await callTool(another, 'add_comment', { id, body: 'Which?', needsAnswer: true })

    expect([refused.isError, refused.text]).toEqual([true, expect.stringContaining('somebody else')])
    expect(await service.task(id)).toMatchObject({ question: null, commentCount: 0, claim })
    await ask(id)
    expect(await service.task(id)).toMatchObject({ claim: null, status: 'open', isReady: false })
    expect((await given.activityOf(id)).at(-1).metadata).toMatchObject({
      overriddenClaim: { number: claim.number, by: { name: 'worker' } },
    })
    await callTool(client, 'add_comment', { id: own, body: 'Which?', needsAnswer: true })
    expect(await service.task(own)).toMatchObject({ claim: null, status: 'open' })
  })

  test('leaves a status that somebody has set', async () => {
    const { task, ask } = await givenProject()
    const { id } = await task()
    await service.patch(`/api/tasks/${id}`, { status: 'in_progress' })
    await ask(id)
    expect(await service.task(id)).toMatchObject({ status: 'in_progress', isReady: false })
  })

  test('is not asked about a task that is done, merged, deleted or archived, nor without a text', async () => {
    const { task, ask, comment, id: projectId } = await givenProject()
    const [done, merged, target, deleted, open] = await Promise.all([1, 2, 3, 4, 5].map(() => task()))
    await service.patch(`/api/tasks/${done?.id}`, { status: 'done' })
    await service.post(`/api/tasks/${merged?.id}/merge`, { into: target?.id })
    await service.delete(`/api/tasks/${deleted?.id}`)

    expect(codeOf(await ask(done?.id ?? ''))).toEqual([409, 'task_done'])
    expect(codeOf(await ask(merged?.id ?? ''))).toEqual([409, 'merge_conflict'])
    expect(codeOf(await ask(deleted?.id ?? ''))).toEqual([404, 'task_not_found'])
    for (const body of ['', ' \n'])
      expect(codeOf(await comment(open?.id ?? '', { body, needsAnswer: true }))).toEqual([
        400,
        'validation_failed',
      ])
    expect(codeOf(await comment(open?.id ?? '', { needsAnswer: 'yes' }))).toEqual([400, 'validation_failed'])
    await service.post(`/api/projects/${projectId}/archive`)
    expect(codeOf(await ask(open?.id ?? ''))).toEqual([409, 'project_archived'])
    for (const { id = '' } of [done, merged].flatMap((task) => task ?? []))
      expect(await service.task(id)).toMatchObject({ question: null, commentCount: 0 })
  })

  test('needs the scope to write', async () => {
    const { task, ask } = await givenProject()
    const { id } = await task()
    const reader = await service.given.key({ scopes: ['tasks:read'] })
    expect(codeOf(await ask(id, { key: reader }))).toEqual([403, 'insufficient_scope'])
    const writer = await service.given.key({ scopes: ['tasks:write'] })
    expect((await ask(id, { key: writer })).body).toEqual({ id: expect.stringMatching(UUID) })
  })

  test('is asked once, however often its request is sent', async () => {
    const { claimed, ask, comment, key } = await givenProject()
    const { id } = await claimed()
    const again = { key, headers: { 'idempotency-key': randomUUID() } }
    const first = await ask(id, again)
    await comment(id)

    const second = await ask(id, again)

    expect([second.status, second.body]).toEqual([201, first.body])
    // It was answered in between.
    expect(await service.task(id)).toMatchObject({ question: null, commentCount: 2 })
  })
})
