import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterEach, expect, test } from 'vitest'
import { ADMIN_KEY, cleanUp, spawnInlet } from '../support/inlet-process.ts'
import { startInstalledPostgres } from '../support/installed-postgres.ts'

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

/** The number of rows and a digest of each table of Inlet's own. */
async function tablesOf(connectionString: string): Promise<Record<string, unknown>> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  const { rows } = await client.query(
    "select tablename from pg_tables where schemaname = 'public' order by 1",
  )
  expect(rows.length).toBeGreaterThan(20)
  const tables: Record<string, unknown> = {}
  for (const { tablename } of rows) {
    const digest = await client.query(
      `select count(*)::int as rows, md5(coalesce(string_agg(t::text, '|' order by t::text), '')) as digest
       from public.${pg.escapeIdentifier(tablename)} as t`,
    )
    tables[tablename] = digest.rows[0]
  }
  await client.end()
  return tables
}

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
