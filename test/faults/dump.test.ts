import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { ADMIN_KEY, cleanUp, spawnInlet } from '../support/inlet-process.ts'
import { startInstalledPostgres } from '../support/installed-postgres.ts'
import { tablesOf } from '../support/tables.ts'

const ends: (() => Promise<unknown>)[] = []

afterEach(async () => {
  await cleanUp()
  for (const end of ends.splice(0).reverse()) await end()
})

test('a dump by pg_dump restores to the same rows, and Inlet starts on one of a database in use', async () => {
  const postgres = await startInstalledPostgres()
  ends.push(postgres.stop)
  const folder = await mkdtemp(join(tmpdir(), 'inlet-dump-'))
  ends.push(() => rm(folder, { recursive: true }))
  const original = postgres.createDatabase('inlet')
  const inlet = spawnInlet({ env: { DATABASE_URL: original } })
  const url = await inlet.url
  const { body: task } = await send(url, 'POST', '/api/tasks', { title: 'Überall Ärger', labels: ['Möwe'] })
  await send(url, 'PATCH', `/api/tasks/${task.id}`, { status: 'done', notes: 'x'.repeat(20_000) })
  await send(url, 'POST', `/api/tasks/${task.id}/comments`, { body: 'A comment' })

  const copyTo = (name: string) => {
    const dump = join(folder, name)
    postgres.run('pg_dump', '--format=custom', `--file=${dump}`, original)
    const copy = postgres.createDatabase(name)
    postgres.run('pg_restore', '--no-owner', '--exit-on-error', `--dbname=${copy}`, dump)
    return copy
  }
  const copy = copyTo('copy')
  await endOf(inlet)

  expect(await tablesOf(copyTo('same'))).toEqual(await tablesOf(original))
  const restored = spawnInlet({ env: { DATABASE_URL: copy } })
  const { body: read } = await send(await restored.url, 'GET', `/api/tasks/${task.id}`)
  expect(read).toMatchObject({ title: 'Überall Ärger', status: 'done', version: 2, commentCount: 1 })
  const { body: found } = await send(await restored.url, 'GET', '/api/tasks?q=%C3%A4rger')
  expect(found.data).toMatchObject([{ id: task.id }])
  await endOf(restored)
})

async function send(url: string, method: string, path: string, body?: object) {
  const response = await fetch(url + path, {
    method,
    headers: { 'x-api-key': ADMIN_KEY, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  expect(response.ok, text).toBe(true)
  return { body: JSON.parse(text) }
}

async function endOf(inlet: ReturnType<typeof spawnInlet>) {
  inlet.process.kill('SIGTERM')
  expect(await inlet.ended).toMatchObject({ code: 0 })
}
