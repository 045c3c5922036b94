import { afterAll, beforeAll, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'

let service: TestApp
beforeAll(async () => {
  service = await startApp()
})
afterAll(() => service.close())

test.each<[object, string]>([
  [{}, 'title is required.'],
  [{ title: 5, priority: 'urgent' }, 'title must be a string, not 5. And 1 more error.'],
  [{ title: 'x', labels: [1, 2, 3] }, 'labels.0 must be a string, not 1. And 2 more errors.'],
  [{ title: 'x', priority: 5 }, 'priority must be one of low, medium, high, not 5.'],
  [{ title: 'x', lable: [] }, 'lable is not a known field. Did you mean `labels`?'],
  [{ title: 'x', list_id: 'x' }, 'list_id is not a known field. Did you mean `listId`?'],
  [{ title: 'x', dueDate: 'x' }, 'dueDate is not a known field.'],
  [{ title: 'x', projectId: 'x' }, 'projectId is not a known field. `listId` decides the project.'],
  [{ title: 'x', project_id: 'x' }, 'project_id is not a known field. `listId` decides the project.'],
])('the detail is the sentence of the first error, and how many more there are: %j', async (body, detail) => {
  const { status, body: problem } = await service.post('/api/tasks', body)
  expect([status, problem.detail]).toEqual([400, detail])
})

test('the body itself is named', async () => {
  const { body } = await service.post('/api/tasks', [])
  expect(body.detail).toBe('The body must be an object, not an array.')
})

test('a task in a batch, and a change, say what decides the project', async () => {
  const [inbox] = (await service.get('/api/projects')).body.data
  const [list] = (await service.get(`/api/projects/${inbox.id}/lists`)).body.data
  const tasks = [{ title: 'x', projectId: inbox.id }]
  const { body: bulk } = await service.post('/api/tasks/bulk', { listId: list.id, tasks })
  expect(bulk.detail).toBe('tasks.0.projectId is not a known field. `listId` decides the project.')
  const { body: task } = await service.post('/api/tasks', { title: 'A task' })
  const { body: change } = await service.patch(`/api/tasks/${task.id}`, { projectId: inbox.id })
  expect(change.detail).toBe('projectId is not a known field. `listId` decides the project.')
})

test('a query parameter that takes one value, and is sent twice, is one error', async () => {
  const { status, body } = await service.get('/api/tasks?kind=issue&kind=issue')
  const message = 'must be one of issue, pull_request, not an array'
  expect([status, body.errors]).toEqual([400, [{ path: 'query.kind', code: 'wrong_type', message }]])
})

test('an unknown query parameter names the nearest known one', async () => {
  const { status, body } = await service.get('/api/tasks?state=open&limits=5')
  expect([status, body.errors]).toEqual([
    400,
    [
      { path: 'query.state', code: 'unknown_field', message: 'is not a known field. Did you mean `status`?' },
      { path: 'query.limits', code: 'unknown_field', message: 'is not a known field. Did you mean `limit`?' },
    ],
  ])
  expect(body.detail).toBe('query.state is not a known field. Did you mean `status`? And 1 more error.')
})

test('of many errors, a hundred are listed, and the others counted', async () => {
  const body = Object.fromEntries(Array.from({ length: 250 }, (_, index) => [`member${index}`, 1]))
  const { body: problem } = await service.post('/api/tasks', { title: 'x', ...body })
  expect([problem.errors.length, problem.errorsOmitted]).toEqual([100, 150])
  expect(problem.detail).toBe('member0 is not a known field. And 249 more errors.')
})

test('quoted values are cut at 100 characters', async () => {
  const { body } = await service.post('/api/tasks', { title: 'x', priority: 'x'.repeat(5_000) })
  expect(body.detail).toContain(`not "${'x'.repeat(100)}…"`)
  expect(body.detail.length).toBeLessThan(250)
})
