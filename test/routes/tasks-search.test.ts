import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Task } from '../../src/schemas/task.ts'
import { startApp, type TestApp } from '../support/app.ts'

let service: TestApp
beforeAll(async () => {
  service = await startApp()
})
afterAll(() => service.close())

describe('a search', () => {
  const EVERY_TASK = [
    'percent',
    'underscore',
    'backslash',
    'umlaut',
    'greek',
    'emoji',
    'quote',
    'plain',
    'near',
    'cut',
    'wide',
  ]
  let projectId: string
  beforeAll(async () => {
    const project = await service.given.project()
    projectId = project.id
    const tasks = {
      percent: '100% sure',
      underscore: 'snake_case',
      backslash: 'C:\\temp',
      umlaut: 'Größe ÄNDERN',
      greek: 'ΑΘΗΝΑ',
      emoji: 'on 🔥 today',
      quote: "it's",
      plain: 'snakeXcase 100 sure C:temp',
    }
    for (const [name, title] of Object.entries(tasks)) {
      await service.given.task(project.inbox, {
        title,
        externalId: name,
        ...(name === 'plain' && { labels: ['Label-of-plain'], assignees: ['A person'] }),
      })
    }
    const far = (length: number) => `${'x'.repeat(length)}needle`
    await service.given.task(project.inbox, { externalId: 'near', description: far(994) })
    await service.given.task(project.inbox, { externalId: 'cut', description: far(995) })
    await service.given.task(project.inbox, { externalId: 'wide', description: `${'🔥'.repeat(994)}needle` })
  })

  test.each([
    ['%', ['percent']],
    ['0% S', ['percent']],
    ['_', ['underscore']],
    ['snake_case', ['underscore']],
    ['SNAKE', ['underscore', 'plain']],
    ['\\', ['backslash']],
    [':\\t', ['backslash']],
    ['GRÖSSE', []],
    ['größe', ['umlaut']],
    ['GRÖ', ['umlaut']],
    ['ändern', ['umlaut']],
    ['αθηνα', ['greek']],
    ['🔥', ['emoji', 'wide']],
    ["T'S", ['quote']],
    ['needle', ['near', 'wide']],
    ['needl', ['near', 'cut', 'wide']],
    ['nobody wrote this', []],
    ['sure 100', ['percent', 'plain']],
    ['sure "snakeXcase 100"', ['plain']],
    ['"100 sure"', ['plain']],
    ['"sure 100"', []],
    ['"100 sure', ['plain']],
    ['100"sure"', ['percent', 'plain']],
    ['sure snake_case', []],
    ['eX', ['plain']],
    ['1 x', ['plain']],
    ['#x', []],
    [`${'sure 1 0 00 '.repeat(12)}100`, ['percent', 'plain']],
    ['label-of-plain', ['plain']],
    ['PERSON', ['plain']],
    ['"person umlaut"', []],
    ['person wide', []],
    [' ', EVERY_TASK],
    ['""', EVERY_TASK],
  ])('for %j finds what has all words', async (text, found) => {
    const page = await service.get(
      `/api/tasks?projectId=${projectId}&sort=createdAt&q=${encodeURIComponent(text)}`,
    )

    expect([page.status, page.body.data.map(({ externalId }: Task) => externalId)]).toEqual([200, found])
  })

  test('for an empty string returns everything', async () => {
    expect((await service.get(`/api/tasks?projectId=${projectId}&q=`)).body.data).toHaveLength(11)
  })
})
