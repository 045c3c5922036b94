import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'
import { callTool, mcpConnections } from '../support/mcp-clients.ts'
import { person, type SignedIn } from '../support/people.ts'
import { listenTo } from '../support/stream.ts'

/** Only in the project of others. */
const SECRET = 'zebrafish'
/** In the projects of the person, too. */
const COMMON = 'giraffe'

let service: TestApp
const connect = mcpConnections(() => service)
let ada: SignedIn
let own: { id: string; listId: string }[]
let task: { id: string }
let hidden: { projectId: string; listId: string; taskId: string }
/** Of the changes, before there was anything of others. */
let cursor: string

beforeAll(async () => {
  service = await startApp()
  cursor = (await service.get('/api/changes')).body.nextCursor
  own = await Promise.all(
    Array.from({ length: 3 }, async () => {
      const { id, inbox } = await service.given.project()
      return { id, listId: inbox.id }
    }),
  )
  ada = await person(service, { projectIds: own.map(({ id }) => id) })
  const made = async (listId: string | undefined, word: string) => {
    const title = `Crash while saving the draft of a report about a ${COMMON} ${word}`
    const named = { labels: [COMMON, word], assignees: [COMMON, word] }
    return (await service.post('/api/tasks', { title, listId, ...named })).body
  }
  task = await made(own[0]?.listId, 'seen')

  const project = await service.given.project()
  await service.patch(`/api/projects/${project.id}`, { name: `The ${SECRET}` })
  await service.patch(`/api/lists/${project.inbox.id}`, { name: `The ${SECRET}` })
  const other = await made(project.inbox.id, SECRET)
  await service.post(`/api/tasks/${other.id}/comments`, { body: `About the ${SECRET}` })
  await service.post('/api/rules', { content: `Feed the ${SECRET}.`, projectId: project.id })
  await service.post('/api/activity', { type: 'deploy.done', message: SECRET, projectId: project.id })
  hidden = { projectId: project.id, listId: project.inbox.id, taskId: other.id }
})
afterAll(() => service.close())

/** Whether a text has anything of the others. */
const hasHidden = (text: string) => [SECRET, ...Object.values(hidden)].some((each) => text.includes(each))

describe('somebody with three projects', () => {
  test.each<[string, () => string, object?]>([
    ['tasks', () => '/api/tasks?limit=200'],
    ['a search', () => `/api/tasks?q=${COMMON}`],
    ['tasks with a label', () => `/api/tasks?label=${COMMON}`],
    ['CSV', () => '/api/tasks', { accept: 'text/csv' }],
    ['labels', () => '/api/labels?limit=200'],
    ['assignees', () => '/api/assignees?limit=200'],
    ['projects', () => '/api/projects?limit=200'],
    ['lists', () => '/api/lists?limit=200'],
    ['rules', () => '/api/rules'],
    ['the context', () => '/api/context'],
    ['activity', () => '/api/activity?limit=200'],
    ['changes', () => `/api/changes?cursor=${cursor}&include=task&limit=200`],
  ])('sees nothing of others in %s', async (_, path, headers = {}) => {
    const read = async (options: { headers: object; key?: null }) => {
      const response = await service.get(path(), { ...options, headers: { ...options.headers, ...headers } })
      expect([path(), response.status]).toEqual([path(), 200])
      return JSON.stringify(response.body)
    }
    expect(hasHidden(await read(ada.with))).toBe(false)
    // Somebody with all projects does: it is not hidden from everybody.
    expect(hasHidden(await read({ headers: {} }))).toBe(true)
  })

  test('sees nothing of others in what is similar', async () => {
    const path = `/api/tasks/${task.id}/similar`
    const similar = async (options: object) =>
      (await service.get(path, options)).body.data.map((one: { task: { id: string } }) => one.task.id)
    const near = (await service.post('/api/tasks', { ...NEAR, listId: own[0]?.listId })).body.id
    while (await service.service.tasks.indexTexts());
    expect(await similar(ada.with)).toEqual([near])
    expect((await service.get(`/api/tasks/${hidden.taskId}/similar`, ada.with)).status).toBe(404)
    expect((await service.get(`/api/tasks/${hidden.taskId}/similar`)).status).toBe(200)
  })

  test('counts nothing of others', async () => {
    const filter = { name: 'Giraffes', query: { label: [COMMON] } }
    const counts = async (options: object) => {
      await service.post('/api/saved-filters', filter, options)
      const [tasks, labels, saved] = [
        (await service.get(`/api/tasks?label=${COMMON}&count=true`, options)).body,
        (await service.get(`/api/labels?q=${COMMON}`, options)).body,
        (await service.get('/api/saved-filters', options)).body,
      ]
      return [tasks.total, labels.data[0].openCount, saved.data[0].count]
    }
    while (await service.service.taskCounts.aggregate());
    expect(await counts(ada.with)).toEqual([1, 1, 1])
    expect(await counts({})).toEqual([2, 2, 2])
  })

  test('has no export of all', async () => {
    expect((await service.get('/api/export', ada.with)).body.code).toBe('insufficient_scope')
  })

  test('has no event of others in the stream', async () => {
    const stream = await listenTo(service, { headers: ada.with.headers })
    await service.patch(`/api/tasks/${hidden.taskId}`, { notes: SECRET })
    const seen = (await service.post('/api/tasks', { title: 'seen', listId: own[1]?.listId })).body
    await stream.until((events) => events.some(({ data }) => data.taskId === seen.id))
    expect(hasHidden(JSON.stringify(stream.events))).toBe(false)
    stream.close()
  })

  test('sees nothing of others over MCP, and changes nothing there', async () => {
    const { key } = (await service.post('/api/me/keys', { name: 'k' }, ada.with)).body
    const [mine, all] = [await connect({ key }), await connect()]
    for (const [tool, given] of [
      ['list_tasks', { q: COMMON }],
      ['list_tasks', {}],
      ['get_context', {}],
      ['get_rules', {}],
    ] as const) {
      const [found, other] = [await callTool(mine, tool, given), await callTool(all, tool, given)]
      expect([tool, hasHidden(JSON.stringify(found)), hasHidden(JSON.stringify(other))]).toEqual([
        tool,
        false,
        true,
      ])
    }
    for (const [tool, given] of [
      ['get_task', { id: hidden.taskId }],
      ['update_task', { id: hidden.taskId, version: 1, status: 'done' }],
      ['claim_task', { id: hidden.taskId }],
      ['add_comment', { id: hidden.taskId, body: 'x' }],
      ['create_task', { title: 'x', listId: hidden.listId }],
      ['list_tasks', { projectId: hidden.projectId }],
    ] as const) {
      const { isError, text } = await callTool(mine, tool, given)
      expect([tool, isError, text]).toEqual([tool, true, expect.stringContaining('not found')])
    }
  })

  test('must name one of them where a project has to be chosen', async () => {
    const post = (body: object) => service.post('/api/rules', body, ada.with)
    expect((await post({ content: 'Be brief.', projectId: own[2]?.id })).status).toBe(201)
    expect(await post({ content: 'Be brief.' })).toMatchObject({
      status: 400,
      body: { code: 'validation_failed', errors: [{ path: '/projectId', code: 'required' }] },
    })
    expect((await service.get('/api/me', ada.with)).body).toMatchObject({
      projectId: null,
      projectIds: own.map(({ id }) => id).toSorted(),
    })
  })
})

const NEAR = { title: `Crash while saving the draft of a report about a ${COMMON} again` }
