import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { api } from '../support/api-client.ts'
import { CERTIFICATE } from '../support/certificate.ts'
import { ADMIN_KEY, cleanUp, spawnInlet } from '../support/inlet-process.ts'
import { startInstalledPostgres } from '../support/installed-postgres.ts'

let postgres: Awaited<ReturnType<typeof startInstalledPostgres>>
let folder: string
/** The file of the authority that has signed the certificate. */
let authority: string
/** A new database, by the name of the certificate. */
let database: string
let databases = 0

beforeAll(async () => {
  postgres = await startInstalledPostgres({ isTlsRequired: true })
  folder = await mkdtemp(join(tmpdir(), 'inlet-tls-'))
  authority = join(folder, 'ca.pem')
  await writeFile(authority, CERTIFICATE)
})
afterEach(cleanUp)
afterAll(async () => {
  await postgres.stop()
  await rm(folder, { recursive: true })
})

const start = (parameters: string) => {
  database = postgres.createDatabase(`inlet_${++databases}`).replace('127.0.0.1', 'localhost')
  return spawnInlet({ env: { DATABASE_URL: `${database}${parameters}` } })
}

describe('a database that requires TLS', () => {
  test('is used over TLS by all connections, and its certificate is verified', async () => {
    const inlet = start(`?sslmode=verify-full&sslrootcert=${authority}`)
    const client = api({ url: await inlet.url, key: ADMIN_KEY })
    const { id } = await client.post('/api/tasks', { title: 'Over TLS' })
    expect(await client.get(`/api/tasks/${id}`)).toMatchObject({ title: 'Over TLS' })
    const exported = await fetch(`${client.url}/api/export`, { headers: { 'x-api-key': ADMIN_KEY } })
    expect(await exported.text()).toContain('Over TLS')

    const observer = new pg.Client({
      connectionString: `${database}?sslmode=verify-full&sslrootcert=${authority}`,
    })
    await observer.connect()
    const connections = async () => {
      const { rows } = await observer.query(
        `select distinct application_name as name, ssl from pg_stat_ssl join pg_stat_activity using (pid)
         where application_name like 'inlet%' order by 1`,
      )
      return rows
    }
    const expected = ['inlet', 'inlet jobs', 'inlet listen'].map((name) => ({ name, ssl: true }))
    await expect.poll(connections).toEqual(expected)

    await observer.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'inlet%'`,
    )
    await expect.poll(connections).toEqual(expected)
    await observer.end()
    inlet.process.kill('SIGTERM')
    expect(await inlet.ended).toMatchObject({ code: 0 })
  })

  test.each([
    ['without TLS', '', 'no pg_hba.conf entry'],
    ['if the authority is unknown', '?sslmode=verify-full', 'self-signed certificate'],
  ])('ends the start %s, with the reason', async (_, parameters, reason) => {
    const inlet = start(parameters)
    expect(await inlet.ended).toMatchObject({ code: 1 })
    expect(inlet.output()).toContain('Inlet cannot start. The database in DATABASE_URL cannot be used: ')
    expect(inlet.output()).toContain(reason)
  })
})
