import { afterAll, beforeAll, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'
import { person, type SignedIn } from '../support/people.ts'

let service: TestApp
let ada: SignedIn
let ids: string[]

beforeAll(async () => {
  service = await startApp()
  ada = await person(service)
  const made = async (title: string, assignees: string[]) =>
    (await service.post('/api/tasks', { title, assignees })).body.id
  ids = [await made('Mine', [ada.username.toUpperCase()]), await made('Also mine', ['bob', ada.username])]
  await made('Of bob', ['bob'])
  await made('Of nobody', [])
})
afterAll(() => service?.close())

const titlesOf = ({ body }: { body: { data: { title: string }[] } }) => body.data.map(({ title }) => title)

test('@me finds the tasks of the person who asks', async () => {
  const mine = await service.get('/api/tasks?assignee=@me&count=true', ada.with)
  expect([titlesOf(mine), mine.body.total]).toEqual([['Also mine', 'Mine'], 2])
  const others = await service.get('/api/tasks?assignee=@me&assignee=none', ada.with)
  expect(titlesOf(others)).toEqual(['Of nobody', 'Also mine', 'Mine'])
})

test('@me is the person of a personal key', async () => {
  const { body } = await service.post('/api/me/keys', { name: 'Script' }, ada.with)
  expect(titlesOf(await service.get('/api/tasks?assignee=@me', { key: body.key }))).toHaveLength(2)
})

test('a saved filter counts the tasks of its person', async () => {
  const saved = await service.post(
    '/api/saved-filters',
    { name: 'Mine', query: { assignee: ['@me'] } },
    ada.with,
  )
  expect([saved.status, saved.body.count]).toEqual([201, ids.length])
  const { body } = await service.get('/api/saved-filters', ada.with)
  expect(body.data[0]).toMatchObject({ query: { assignee: ['@me'] }, count: ids.length })
})

test('a service key is nobody', async () => {
  const query = { assignee: ['bob', '@me'] }
  const refused = [
    await service.get('/api/tasks?assignee=@me'),
    await service.get('/api/tasks?assignee=@me', { headers: { accept: 'text/csv' } }),
    await service.post('/api/saved-filters', { name: 'Mine', query }),
  ]
  expect(refused.map(({ status, body }) => [status, body.code])).toEqual(
    Array(3).fill([403, 'person_required']),
  )
  expect((await service.get('/api/saved-filters')).body.data).toEqual([])
})
