import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Syncing, startSyncing } from '../../support/syncing.ts'

let service: Syncing
beforeAll(async () => {
  service = await startSyncing()
})
afterAll(() => service.close())

/** The task of an issue, about which something was asked here. */
async function asked() {
  const connected = await service.connected({ comments: true }, 1)
  await connected.sync()
  const { id } = (await service.tasksOf(connected.project.id)).get(1)
  await service.post(`/api/tasks/${id}/comments`, { body: 'Which?', needsAnswer: true })
  const { question, version } = await service.task(id)
  expect(question).not.toBeNull()
  return { ...connected, id, question, version }
}

const HOUR = 3_600_000

describe('a question is answered at the code host', () => {
  test('by a comment that is written after it', async () => {
    const { repository, sync, id, question, version } = await asked()
    const later = Date.parse(question.askedAt) + 1_000
    repository.comment(1, { body: 'That one.', createdAt: later, updatedAt: later })

    await sync()

    expect(await service.task(id)).toMatchObject({
      ...{ question: null, isReady: true, commentCount: 2, version: version + 1 },
    })
    const log = await service.query(
      `select type, actor_type, metadata from activity where task_id = $1 order by id desc limit 1`,
      [id],
    )
    expect(log).toMatchObject([
      {
        type: 'task.updated',
        actor_type: 'codehost',
        metadata: { changes: { question: { from: question, to: null } } },
      },
    ])
  })

  test('not by an older comment that comes in later, nor by an app', async () => {
    const { repository, sync, id, question } = await asked()
    const [earlier, later] = [-HOUR, 1_000].map((ms) => Date.parse(question.askedAt) + ms)
    repository.comment(1, { body: 'Me too.', createdAt: earlier ?? 0, updatedAt: later ?? 0 })
    repository.comment(1, {
      ...{ body: 'Coverage is 80 %.', author: 'coverage[bot]' },
      ...{ createdAt: later ?? 0, updatedAt: later ?? 0 },
    })

    await sync()

    expect(await service.task(id)).toMatchObject({ question, isReady: false, commentCount: 3 })
  })

  test('by closing the issue', async () => {
    const { repository, sync, id } = await asked()
    repository.close(1)
    await sync()
    expect(await service.task(id)).toMatchObject({ status: 'done', question: null })
  })

  test('on a deleted task without an activity, and not before it is restored', async () => {
    const { repository, sync, id, question } = await asked()
    await service.delete(`/api/tasks/${id}`)
    const later = Date.parse(question.askedAt) + 1_000
    repository.comment(1, { body: 'That one.', createdAt: later, updatedAt: later })
    await sync()
    const types = await service.query('select type from activity where task_id = $1 order by id', [id])
    expect(types.at(-1)).toEqual({ type: 'task.deleted' })
    await service.post(`/api/tasks/${id}/restore`)
    expect(await service.task(id)).toMatchObject({ question: null, isReady: true })
  })
})
