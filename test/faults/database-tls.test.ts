import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { api } from '../support/api-client.ts'
import { CERTIFICATE, EXPIRED_CERTIFICATE } from '../support/certificate.ts'
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
    const expected = ['inlet', 'inlet listen'].map((name) => ({ name, ssl: true }))
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

  const parameters = () => `?sslmode=verify-full&sslrootcert=${authority}`

  const refusals: [string, string, Refusal][] = [
    [
      'has expired',
      'certificate has expired',
      {
        begin: () => postgres.replaceCertificate(EXPIRED_CERTIFICATE),
        end: () => postgres.replaceCertificate(CERTIFICATE),
      },
    ],
    [
      'is good, but whose password is another one',
      'password authentication failed',
      {
        begin: (client) => client.query(`alter role postgres password 'another'`),
        end: (client) => client.query(`alter role postgres password 'test'`),
      },
    ],
  ]

  test.each(refusals)(
    'and whose certificate %s, is a 503 until it is mended, and ends a start',
    async (_, reason, { begin, end }) => {
      await writeFile(authority, `${CERTIFICATE}${EXPIRED_CERTIFICATE}`)
      const inlet = start(parameters())
      const headers = { 'x-api-key': ADMIN_KEY }
      const url = await inlet.url
      const read = () => fetch(`${url}/api/tasks`, { headers })
      expect((await read()).status).toBe(200)
      const observer = new pg.Client({ connectionString: `${database}${parameters()}` })
      observer.on('error', () => {})
      await observer.connect()

      await begin(observer)
      await expect.poll(connectionError).toContain(reason)
      const readAnew = async () => {
        await observer.query(
          `select pg_terminate_backend(pid) from pg_stat_activity
         where backend_type = 'client backend' and pid <> pg_backend_pid()`,
        )
        return read()
      }
      // A connection that was on its way before may still have been accepted.
      await expect.poll(async () => (await readAnew()).status).toBe(503)
      for (let times = 0; times < 5; times++) {
        const response = await readAnew()
        const { code } = (await response.json()) as { code: string }
        expect([response.status, code]).toEqual([503, 'unavailable'])
        expect(response.headers.get('retry-after')).not.toBeNull()
      }
      expect((await fetch(`${url}/readyz`)).status).toBe(503)
      expect(inlet.output()).toContain(reason)
      const second = spawnInlet({ env: { DATABASE_URL: `${database}${parameters()}` } })
      expect(await second.ended).toMatchObject({ code: 1 })
      expect(second.output()).toContain(`The database in DATABASE_URL cannot be used: ${reason}`)

      await end(observer)
      await observer.end()
      await expect.poll(async () => (await read()).status).toBe(200)
    },
  )

  /** Undefined if a new connection is accepted. */
  async function connectionError(): Promise<string | undefined> {
    const client = new pg.Client({ connectionString: `${database}${parameters()}` })
    return client.connect().then(
      () => client.end().then(() => undefined),
      ({ message }) => message,
    )
  }
})

/** What makes the server refuse new connections. */
interface Refusal {
  begin(client: pg.Client): Promise<unknown>
  end(client: pg.Client): Promise<unknown>
}
