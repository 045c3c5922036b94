import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { afterEach, expect, test } from 'vitest'
import { parse } from 'yaml'
import { cleanUp, spawnInlet } from '../support/inlet-process.ts'
import { startInstalledPostgres } from '../support/installed-postgres.ts'

const compose = parse(
  readFileSync(fileURLToPath(new URL('../../docker-compose.yml', import.meta.url)), 'utf8'),
)
/** Compose replaces two dollars by one. */
const script = compose.configs.database.content.replaceAll('$$', '$')

let stop: (() => Promise<void>) | undefined

afterEach(async () => {
  await cleanUp()
  await stop?.()
})

test('the database of docker-compose.yml takes any password, and its user is no superuser but can search', async () => {
  const postgres = await startInstalledPostgres()
  stop = postgres.stop
  const password = `p@ss:w/rd %1 #2 'x' "y" \\ $z`
  execFileSync('sh', ['-c', script], { env: { ...postgres.env, POSTGRES_PASSWORD: password } })
  const address = compose.services.inlet.environment.DATABASE_URL.replace(/^\$\{DATABASE_URL:-(.*)\}$/, '$1')
  const env = { DATABASE_URL: address.replace('@db:5432', `@127.0.0.1:${postgres.port}`) }

  const inlet = spawnInlet({ env: { ...env, PGPASSWORD: password } })

  expect((await fetch(`${await inlet.url}/readyz`)).status).toBe(200)
  const own = new URL(env.DATABASE_URL)
  own.password = encodeURIComponent(password)
  const client = new pg.Client({ connectionString: own.href })
  await client.connect()
  const { rows } = await client.query(
    `select rolsuper as "isSuperuser", to_regclass('task_texts_trigrams') is not null as "hasIndex"
     from pg_roles where rolname = current_user`,
  )
  await client.end()
  expect(rows).toEqual([{ isSuperuser: false, hasIndex: true }])
  inlet.process.kill('SIGTERM')
  expect(await inlet.ended).toMatchObject({ code: 0 })

  const refused = spawnInlet({ env: { ...env, PGPASSWORD: 'another' } })
  expect(await refused.ended).toMatchObject({ code: 1 })
  expect(refused.output()).toContain('"Change the password of the database" in docs/operating.md')
  expect(refused.output()).not.toContain('another')
})
