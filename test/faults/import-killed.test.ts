import { request as httpRequest } from 'node:http'
import { afterEach, expect, test } from 'vitest'
import { startApp } from '../support/app.ts'
import { fillEverything } from '../support/exported-data.ts'
import { exported, withoutHeader } from '../support/exports.ts'
import { ADMIN_KEY, cleanUp } from '../support/inlet-process.ts'
import { startInstances } from '../support/instances.ts'
import { freshDatabase } from '../support/postgres.ts'

afterEach(cleanUp)

test('a SIGKILL in the middle of an import leaves nothing of it, and the other instance can write again', {
  timeout: 120_000,
}, async () => {
  const source = await startApp()
  await fillEverything(source)
  const text = await exported(source)
  await source.close()
  const { connectionString, drop } = await freshDatabase()
  const instances = await startInstances(1, connectionString)
  await instances.start(1)
  const [first = '', second = ''] = instances.urls()
  const before = await exported({ url: second, adminKey: ADMIN_KEY })

  const upload = httpRequest(`${first}/api/import`, {
    method: 'POST',
    headers: { 'x-api-key': ADMIN_KEY, 'content-type': 'application/x-ndjson' },
  })
  upload.on('error', () => {})
  upload.write(text.slice(0, text.length * 0.9))
  await expect.poll(() => statusOfWrite(second), { timeout: 30_000 }).toBe(503)
  await instances.end(0, 'SIGKILL')

  await expect.poll(() => statusOfWrite(second), { timeout: 30_000 }).toBe(404)
  const after = await exported({ url: second, adminKey: ADMIN_KEY })
  expect(withoutHeader(after)).toBe(withoutHeader(before))
  await instances.endAll().catch(() => {})
  await drop()
})

/** Of a write that changes nothing: an import needs an instance without tasks. */
async function statusOfWrite(url: string): Promise<number> {
  const path = '/api/tasks/00000000-0000-7000-8000-000000000000'
  const { status } = await fetch(url + path, { method: 'DELETE', headers: { 'x-api-key': ADMIN_KEY } })
  return status
}
