import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { inject } from 'vitest'

/** A migrated, empty database for one test file: a copy of the run's template. */
export async function freshDatabase(): Promise<{ connectionString: string; drop(): Promise<void> }> {
  const { adminUrl, template, prefix } = inject('postgres')
  const name = `${prefix}${randomBytes(6).toString('hex')}`
  await withAdmin(adminUrl, (admin) => copyDatabase(admin, { name, template }))
  return {
    connectionString: urlOf(adminUrl, name),
    drop: () => withAdmin(adminUrl, (admin) => dropDatabase(admin, name)),
  }
}

/** One without any table. */
export async function emptyDatabase(): Promise<{ connectionString: string; drop(): Promise<void> }> {
  const { adminUrl, prefix } = inject('postgres')
  const name = `${prefix}${randomBytes(6).toString('hex')}`
  await withAdmin(adminUrl, (admin) => admin.query(`CREATE DATABASE ${pg.escapeIdentifier(name)}`))
  return {
    connectionString: urlOf(adminUrl, name),
    drop: () => withAdmin(adminUrl, (admin) => dropDatabase(admin, name)),
  }
}

/** The same server, another database. */
export function urlOf(adminUrl: string, database: string): string {
  const url = new URL(adminUrl)
  url.pathname = `/${database}`
  return url.href
}

export async function withAdmin<T>(adminUrl: string, work: (admin: pg.Client) => Promise<T>): Promise<T> {
  const admin = new pg.Client({ connectionString: adminUrl, application_name: 'test admin' })
  await admin.connect()
  return work(admin).finally(() => admin.end())
}

export async function dropDatabase(admin: pg.Client, name: string): Promise<void> {
  await admin.query(`DROP DATABASE IF EXISTS ${pg.escapeIdentifier(name)} WITH (FORCE)`)
}

const OBJECT_IN_USE = '55006'
const ATTEMPTS = 20

async function copyDatabase(
  admin: pg.Client,
  { name, template }: { name: string; template: string },
): Promise<void> {
  const statement = `CREATE DATABASE ${pg.escapeIdentifier(name)} TEMPLATE ${pg.escapeIdentifier(template)}`
  for (let attempt = 1; ; attempt++) {
    try {
      await admin.query(statement)
      return
    } catch (error) {
      // Nobody may connect to the template, but autovacuum does.
      if (!(error instanceof pg.DatabaseError) || error.code !== OBJECT_IN_USE || attempt === ATTEMPTS)
        throw error
      await sleep(100)
    }
  }
}
