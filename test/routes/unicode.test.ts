import { afterAll, beforeAll, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'

let service: TestApp
beforeAll(async () => {
  service = await startApp()
})
afterAll(() => service.close())

const COMPOSED = 'Caf\u00e9'
const DECOMPOSED = 'Cafe\u0301'

const titlesOf = async (query: string) =>
  (await service.get(`/api/tasks?sort=createdAt&${query}`)).body.data.map(
    ({ title }: { title: string }) => title,
  )

test('a search finds both spellings of an accent, in titles, descriptions, and labels', async () => {
  await service.post('/api/tasks', { title: `1 ${COMPOSED}` })
  await service.post('/api/tasks', { title: `2 ${DECOMPOSED}` })
  await service.post('/api/tasks', { title: '3', description: `In a ${DECOMPOSED.toUpperCase()} here` })
  await service.post('/api/tasks', { title: '4', labels: [DECOMPOSED] })
  await service.post('/api/tasks', { title: '5 Cafe' })
  const found = [`1 ${COMPOSED}`, `2 ${DECOMPOSED}`, '3', '4']
  // Before and after the texts are indexed.
  for (const spelling of [COMPOSED, DECOMPOSED, `"${COMPOSED}"`])
    expect([spelling, await titlesOf(`q=${encodeURIComponent(spelling)}`)]).toEqual([spelling, found])
  await service.service.tasks.indexTexts()
  for (const spelling of [COMPOSED, DECOMPOSED, '\u00e9', 'e\u0301'])
    expect([spelling, await titlesOf(`q=${encodeURIComponent(spelling)}`)]).toEqual([spelling, found])
})

test('labels and assignees are one in both spellings, and are counted together', async () => {
  const names = { labels: ['Ren\u00e9', 'Rene\u0301', 'REN\u00c9'], assignees: ['Zoe\u0308'] }
  const { body: first } = await service.post('/api/tasks', { title: 'First', ...names })
  expect(first).toMatchObject({ labels: ['Ren\u00e9'], assignees: ['Zo\u00eb'] })
  const { body: second } = await service.post('/api/tasks', { title: 'Second', labels: ['rene\u0301'] })
  const { body: same } = await service.patch(`/api/tasks/${second.id}`, { labels: ['ren\u00e9'] })
  expect(same.version).toBe(second.version)
  for (const spelling of ['ren\u00e9', 'Rene\u0301']) {
    expect(await titlesOf(`label=${encodeURIComponent(spelling)}`)).toEqual(['First', 'Second'])
    const { body } = await service.get(`/api/labels?q=${encodeURIComponent(spelling)}`)
    expect(body.data).toMatchObject([{ openCount: 2 }])
  }
  expect(await titlesOf(`assignee=${encodeURIComponent('zoe\u0308')}`)).toEqual(['First'])
})

/** Whose lower case JavaScript writes in two characters, or by what follows. */
test.each([
  ['\u0130stanbul', 'istanbul'],
  ['\u039f\u0394\u039f\u03a3', '\u03bf\u03b4\u03bf\u03c3'],
  ['\u212aelvin', 'kelvin'],
])('the labels %s and %s are one, as the database folds them', async (upper, lower) => {
  const { body: task } = await service.post('/api/tasks', { title: 'A task', labels: [upper, lower] })
  expect(task.labels).toEqual([upper.normalize('NFC')])
  const { body } = await service.get('/api/labels')
  const counted = body.data.filter(({ name }: { name: string }) => name === task.labels[0])
  expect(counted).toMatchObject([{ openCount: 1 }])
})
