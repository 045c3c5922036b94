import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { AssistantComment } from '../../src/schemas/tool-results.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { callTool, givenProjectWithKey, mcpConnections } from '../support/mcp-clients.ts'
import { TIMESTAMP, UUID } from '../support/patterns.ts'

let service: TestApp
beforeAll(async () => {
  service = await startApp()
})
afterAll(() => service.close())

const connect = mcpConnections(() => service)

async function givenTask() {
  const { key, inbox } = await givenProjectWithKey(service)
  const task = await service.given.task(inbox)
  const client = await connect({ key })
  return {
    path: `/api/tasks/${task.id}/comments`,
    key,
    add: (body: string, more = {}) => callTool(client, 'add_comment', { id: task.id, body, ...more }),
    async read(): Promise<AssistantComment[]> {
      const { data, text } = await callTool(client, 'get_task', { id: task.id })
      expect(text).toContain(JSON.stringify(data.comments))
      return data.comments
    },
  }
}

describe('an assistant', () => {
  test('adds a comment, in its own name, for the team only', async () => {
    const { add, path, key, read } = await givenTask()

    const { data, isError, text } = await add('Blocked by the license question.')

    expect(isError).toBe(false)
    expect(data).toEqual({ id: expect.stringMatching(UUID) })
    expect(text).toBe(`Added the comment ${data.id}.`)
    expect((await service.get(path, { key })).body.data).toMatchObject([
      { id: data.id, author: { type: 'assistant' }, isPublic: false },
    ])
    expect(await read()).toEqual([
      {
        id: data.id,
        author: expect.any(String),
        authorType: 'assistant',
        createdAt: expect.stringMatching(TIMESTAMP),
        body: 'Blocked by the license question.',
        isCut: false,
      },
    ])
  })

  test('adds a public comment if it says so', async () => {
    const { add, path, key } = await givenTask()
    await add('Fixed in 2.3.2.', { isPublic: true })
    expect((await service.get(path, { key })).body.data).toMatchObject([{ isPublic: true }])
    expect((await add('No', { isPublic: 'yes' })).isError).toBe(true)
  })

  test('gets the last 20 comments of a task, oldest first', async () => {
    const { path, read } = await givenTask()
    for (let number = 1; number <= 22; number++) await service.post(path, { body: `Comment ${number}` })

    const expected = Array.from({ length: 20 }, (_, index) => `Comment ${index + 3}`)
    expect((await read()).map(({ body }) => body)).toEqual(expected)
  })

  test('gets the beginning of a long comment, and no more comments than fit', async () => {
    const { path, read } = await givenTask()
    for (const letter of 'abcdef') await service.post(path, { body: letter.repeat(5_000) })
    await service.post(path, { body: 'Last' })

    const comments = await read()
    const shown = comments.map(({ body, isCut }) => [body[0], body.length, isCut])
    expect(shown).toEqual([
      ['d', 4_000, true],
      ['e', 4_000, true],
      ['f', 4_000, true],
      ['L', 4, false],
    ])
  })
})
