import { afterEach, expect, test } from 'vitest'
import { startApp } from '../support/app.ts'
import { exported, withoutHeader, withTasks } from '../support/exports.ts'
import { ADMIN_KEY, cleanUp, spawnInlet } from '../support/inlet-process.ts'
import { freshDatabase } from '../support/postgres.ts'

const TASKS = 40_000

afterEach(cleanUp)

test(`the last of ${TASKS} tasks is bad: the import names its line, and leaves nothing`, async () => {
  const source = await startApp()
  await source.post('/api/tasks', { title: 'One of many', description: 'x'.repeat(500) })
  const template = await exported(source)
  await source.close()
  const { connectionString, drop } = await freshDatabase()
  const inlet = spawnInlet({ env: { DATABASE_URL: connectionString } })
  const url = await inlet.url
  const exportedLines = async () => withoutHeader(await exported({ url, adminKey: ADMIN_KEY }))
  const before = await exportedLines()

  const file = withTasks(template, TASKS, (nth) => (nth === TASKS - 1 ? { status: 'done' } : {}))
  const badLine = file.trimEnd().split('\n').length - 1
  expect(await importFile(url, file)).toMatchObject({
    status: 400,
    errors: [{ path: `line.${badLine}`, message: expect.stringContaining('tasks_completed_when_done') }],
  })
  expect(await exportedLines()).toBe(before)
  inlet.process.kill('SIGTERM')
  expect(await inlet.ended).toMatchObject({ code: 0 })
  await drop()
})

async function importFile(url: string, file: string) {
  const headers = { 'x-api-key': ADMIN_KEY, 'content-type': 'application/x-ndjson' }
  const response = await fetch(`${url}/api/import`, { method: 'POST', headers, body: file })
  return response.json()
}
