import { createHash } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { everywhere, type Repositories } from '../../src/repositories/index.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { fillWithTasks } from '../support/many-tasks.ts'
import { person, type SignedIn } from '../support/people.ts'
import { beyond, explaining, type Limits, type Work, workOf } from '../support/plans.ts'
import { freshDatabase } from '../support/postgres.ts'

/*
 * What PostgreSQL reads for the sign-ins, the lists, and the changes of people, before their tables were ever analyzed,
 * and afterwards.
 */

const TASKS = 60_000
const PEOPLE = 20_000
/** Each lasts a week at most. */
const INVITES = 400

const everybody = `generate_series(1, ${PEOPLE}) as i`
/** The same for each number. */
const userOf = `('00000000-0000-7000-8000-' || lpad(i::text, 12, '0'))::uuid`
const hashOf = (text: string) => `encode(sha256(${text}::bytea), 'hex')`
const three = `(select array_agg(id) from (select id from projects order by id limit 3) as first)`

/** One in twenty has all projects, and each has a session, a key, a passkey and a provider. */
const ROWS = [
  `insert into users (id, username, name, role, project_ids, is_active, created_at)
   select ${userOf}, 'user-' || i, 'User ' || i, 'member', case when i % 20 > 0 then ${three} end, i % 10 > 0, now()
   from ${everybody}`,
  `insert into passwords (user_id, hash) select ${userOf}, 'none' from ${everybody}`,
  `insert into passkeys (id, user_id, credential_id, public_key, counter, rp_id, transports, name, created_at)
   select uuidv7(), ${userOf}, 'passkey-' || i, '', 0, 'localhost', '{}', 'Laptop', now() from ${everybody}`,
  `insert into identities (id, issuer, subject, user_id, provider_id, created_at, last_used_at, is_role_managed)
   select uuidv7(), 'https://login.example.com', 'subject-' || i, ${userOf}, 'env', now(), now(), false
   from ${everybody}`,
  `insert into sessions (id, user_id, hash, created_at, last_seen_at)
   select uuidv7(), ${userOf}, ${hashOf(`('session-' || i)`)}, now(), now() from ${everybody}`,
  `insert into invites (id, hash, name, role, invited_by_type, invited_by_id, invited_by_name, created_at, expires_at)
   select uuidv7(), ${hashOf(`('invite-' || i)`)}, 'Somebody', 'member', 'user', ${userOf}, 'User', now(),
     now() + interval '7 days' from ${everybody} where i <= ${INVITES}`,
  `insert into sign_in_attempts (hash, checks, user_id, expires_at)
   select ${hashOf(`('attempt-' || i)`)}, '{}', ${userOf}, now() + interval '10 minutes' from ${everybody}`,
  `insert into api_keys (id, name, scopes, user_id, created_by_type, created_by_id, created_by_name, created_at)
   select uuidv7(), 'Key ' || i, '{tasks:read}', case when i % 2 = 0 then ${userOf} end, 'user', ${userOf}, 'User', now()
   from ${everybody}`,
]

/** Half of them unread, of tasks in reach and of others. */
const notificationsOf = ({ id }: { id: string }) =>
  [`'${id}'`, userOf].map(
    (userId) =>
      `insert into notifications (id, user_id, reason, task_id, count, actor_type, actor_name, created_at, read_at)
       select uuidv7(), ${userId}, 'commented', (array(select id from tasks))[i], 1, 'system', 'test', now(),
         case when i % 2 = 0 then now() end from ${everybody}`,
  )

let database: Awaited<ReturnType<typeof freshDatabase>>
let service: TestApp
let ada: SignedIn
let works: Work[] = []

async function runAll(statements: string[]) {
  const client = new pg.Client(database)
  await client.connect()
  for (const statement of statements) await client.query(statement)
  await client.end()
}

beforeAll(async () => {
  database = await freshDatabase()
  const { connectionString } = database
  await fillWithTasks(connectionString, { count: TASKS, isAnalyzed: false })
  const onNotice = (notice: string) => {
    const work = workOf(notice)
    if (work) works.push(work)
  }
  service = await startApp({ connectionString: explaining(connectionString), onNotice })
  const projects = await service.query('select id from projects order by id limit 3')
  ada = await person(service, { projectIds: projects.map(({ id }) => id) })
  await runAll(['set session_replication_role = replica', ...ROWS, ...notificationsOf(ada)])
}, 300_000)
afterAll(async () => {
  await service?.close()
  await database?.drop()
})

const USER = '00000000-0000-7000-8000-000000010001'
const NOW = new Date()
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const all = (repos: Repositories) => repos.within(everywhere)

type Statement = (repos: Repositories) => Promise<unknown>

const STATEMENTS: Record<string, [Statement, Limits?]> = {
  'finds a password by the username': [({ credentials }) => credentials.users.findWithPassword('user-10001')],
  'finds a passkey by its credential': [({ credentials }) => credentials.passkeys.find('passkey-10001')],
  'finds a session by its cookie': [
    ({ credentials }) => credentials.sessions.findByHash(sha256('session-10001')),
  ],
  'finds a key by its secret': [({ credentials }) => credentials.keys.findBySecret(sha256('a key'))],
  'finds an invite by its secret': [(repos) => all(repos).invites.findBySecret(sha256('invite-101'))],
  'takes an invite': [(repos) => all(repos).invites.take(sha256('invite-101'))],
  'takes an attempt': [(repos) => all(repos).signInAttempts.take(sha256('attempt-10001'))],
  'finds an identity by issuer and subject': [
    (repos) =>
      all(repos).identities.findBySubject({
        issuer: 'https://login.example.com',
        subject: 'subject-10001',
      }),
  ],
  'reads the identities of a person': [(repos) => all(repos).identities.list(USER)],
  'ends the sessions of a person': [(repos) => all(repos).sessions.deleteOf({ userId: USER })],
  'ends the keys of a person': [(repos) => all(repos).keys.revokeOfUser(USER, NOW)],
  'ends the claims of a person': [(repos) => all(repos).claims.endLeasesOf(USER)],
  'ends the attempts of a person': [(repos) => all(repos).signInAttempts.deleteOfUser(USER)],
  'ends the invites of a person': [(repos) => all(repos).invites.deleteOfUser(USER)],
  'finds people by usernames and IDs': [
    ({ notificationFeed }) =>
      notificationFeed.people({ usernames: ['user-10001'], ids: [USER], hasOwners: false }),
  ],
  'reads all notifications of a person': [
    (repos) => all(repos).notifications.read(USER, { ids: undefined, now: NOW, limit: 1_000 }),
  ],
  'ends the invites that a person made': [(repos) => all(repos).invites.deleteCreatedBy(USER)],
}

const LISTS: Record<string, Limits> = {
  '/api/users': {},
  '/api/users?isActive=true': {},
  '/api/users/{user}': {},
  '/api/people': {},
  '/api/invites': {},
  '/api/keys': {},
  '/api/sessions': {},
}

/** Unread notifications that are counted. */
const MAX_COUNTED = 1_000

const OWN_LISTS: Record<string, Limits> = {
  '/api/me': {},
  '/api/me/keys': {},
  '/api/me/passkeys': {},
  '/api/me/identities': {},
  '/api/sessions': {},
  '/api/people': {},
  '/api/saved-filters': {},
  '/api/notifications': { read: 4 * MAX_COUNTED },
  '/api/notifications?unread=true': { read: 4 * MAX_COUNTED },
  '/api/notifications?unread=false': { read: 4 * MAX_COUNTED },
  '/api/notifications/unread': { read: 40 * MAX_COUNTED },
}

describe.each(['before the first analysis', 'with statistics'])('%s', (when) => {
  beforeAll(async () => {
    if (when === 'with statistics') await runAll(['vacuum analyze'])
  }, 60_000)

  test.each(Object.entries(STATEMENTS))('what %s has an index', async (_, [statement, limits]) => {
    const end = new Error('The work is measured.')
    works = []
    const measured = service.repos.transaction(async (repos) => {
      await statement(repos)
      throw end
    })
    await expect(measured).rejects.toBe(end)
    expect(beyond(works, limits)).toEqual([])
  })

  test('the keys that a person made are found in one reading of all keys', async () => {
    works = []
    await all(service.repos).keys.listCreatedBy(USER, { now: NOW, limit: 100 })
    expect(works.map(({ read }) => read)).toEqual([expect.toSatisfy((read) => read < 2.1 * PEOPLE)])
  })

  test.each(Object.entries(LISTS))('%s has an index', async (path, limits) => {
    works = []
    expect((await service.get(path.replace('{user}', USER))).status).toBe(200)
    expect(beyond(works, limits)).toEqual([])
  })

  test.each(Object.entries(OWN_LISTS))(
    '%s of a person with three projects has an index',
    async (path, limits) => {
      service.service.access.forget()
      works = []
      expect((await service.get(path, ada.with)).status).toBe(200)
      expect(beyond(works, limits)).toEqual([])
    },
  )
})
