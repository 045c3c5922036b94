import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { codeOf, startApp, type TestApp } from '../support/app.ts'
import { closed, type ExportLine, exported, importInto, linesIn } from '../support/exports.ts'
import { UNKNOWN_ID } from '../support/patterns.ts'
import { accept, PASSWORD, person, type SignedIn, signInAs } from '../support/people.ts'
import { signIn } from '../support/sign-in.ts'
import { startTwoInstances, type TwoInstances } from '../support/two-instances.ts'

const NDJSON = { 'content-type': 'application/x-ndjson' }

let source: TestApp
let instances: TwoInstances
let service: TestApp
let second: TestApp
let project: { id: string }
let grace: SignedIn
let text: string

beforeAll(async () => {
  source = await startApp()
  project = await source.given.project()
  grace = await person(source, { username: 'grace', name: 'Grace', projectIds: [project.id] })
  const gone = await person(source, { username: 'gone', name: 'Gone', role: 'viewer' })
  await source.patch(`/api/users/${gone.id}`, { isActive: false })
  text = await exported(source)
  instances = await startTwoInstances()
  ;({ service, second } = instances)
})
afterAll(async () => {
  await source.close()
  await instances.close()
})

/** The export, with another person. */
const withPerson = (members: object) =>
  closed(
    linesIn(text)
      .slice(0, -1)
      .map((line: ExportLine) => (line.username === 'grace' ? { ...line, ...members } : line)),
  )

test('an export has people without what they sign in with', () => {
  const [user] = linesIn(text).filter(({ kind }) => kind === 'user')
  expect(user).toEqual({
    ...{ kind: 'user', id: grace.id, username: 'grace', name: 'Grace', email: null, role: 'member' },
    ...{ projectIds: [project.id], isActive: true, createdAt: expect.any(String) },
  })
  expect(text).not.toContain('argon2')
})

describe('an import of people is refused', () => {
  test.each([
    ['to an owner', async () => (await person(service, { role: 'owner' })).with],
    [
      'to a personal key',
      async () => {
        const owner = await person(service, { role: 'owner' })
        const made = await service.post('/api/me/keys', { name: 'k', scopes: ['admin'] }, owner.with)
        return { key: made.body.key as string }
      },
    ],
  ])('%s', async (_, caller) => {
    const { headers = {}, ...options } = (await caller()) as { key: string | null; headers?: object }
    const refused = await service.post('/api/import', text, {
      ...options,
      headers: { ...headers, ...NDJSON },
    })
    expect(codeOf(refused)).toEqual([403, 'service_key_required'])
  })

  test.each([
    ['a project that is not there', { projectIds: [UNKNOWN_ID] }, /must follow all projects of each person/],
    ['a reserved username', { username: 'none' }, /not reserved/],
    ['a username in capitals', { username: 'Grace' }, /a-z/],
    ['the username of another', { username: 'gone' }, /has an ID or a key of an earlier line/],
    ['an owner of some projects', { role: 'owner' }, /users_reach/],
    ['no projects', { projectIds: [] }, /.+/],
    ['an unknown role', { role: 'admin' }, /.+/],
    ['a name that looks like another', { name: 'Gr\u202eace' }, /control characters/],
  ])('with %s', async (_, members, message) => {
    const before = (await service.get('/api/users?limit=200')).body.data
    const refused = await importInto(service, withPerson(members))
    expect([...codeOf(refused), refused.body.errors[0].message]).toEqual([
      400,
      'validation_failed',
      expect.stringMatching(message),
    ])
    expect((await service.get('/api/users?limit=200')).body.data).toEqual(before)
  })
})

test('an import replaces the people with all that they have, on every instance', async () => {
  const ada = await person(service, { username: 'ada', role: 'owner' })
  const { key } = (await service.post('/api/me/keys', { name: 'k' }, ada.with)).body
  const invite = (await service.post('/api/invites', { name: 'Eve', role: 'viewer' }, ada.with)).body
  await service.post('/api/saved-filters', { name: 'Open', query: { status: ['open'] } }, ada.with)
  await service.post('/api/saved-filters', { name: 'Of the key', query: { status: ['open'] } })
  expect((await second.get('/api/me', ada.with)).status).toBe(200)

  const ofKey = await signIn(service, service.adminKey)
  const { headers } = ofKey.with as { headers: object }
  const imported = await service.post('/api/import', text, {
    ...ofKey.with,
    headers: { ...headers, ...NDJSON },
  })
  expect([imported.status, imported.body.counts.user]).toEqual([200, 2])
  for (const app of [service, second]) {
    await expect.poll(async () => (await app.get('/api/me', ada.with)).status, { timeout: 2_000 }).toBe(401)
    expect((await app.get('/api/me', { key })).status).toBe(401)
  }
  expect(
    codeOf(await accept(service, { secret: invite.secret, username: 'eve', password: PASSWORD })),
  ).toEqual([410, 'invite_invalid'])
  expect((await service.get('/api/saved-filters')).body.data).toMatchObject([{ name: 'Of the key' }])
  expect((await service.get('/api/users')).body.data).toMatchObject([
    { id: grace.id, role: 'member', projectIds: [project.id], isActive: true, lastSeenAt: null },
    { username: 'gone', isActive: false },
  ])

  const signedOut = await service.post(
    '/api/sessions',
    { username: 'grace', password: PASSWORD },
    { key: null },
  )
  expect(codeOf(signedOut)).toEqual([401, 'invalid_credentials'])
  const again = (await service.post('/api/invites', { userId: grace.id })).body
  expect((await accept(service, { secret: again.secret, password: PASSWORD })).status).toBe(201)
  const back = await signInAs(service, 'grace')
  expect((await service.get('/api/projects', back.with)).body.data).toMatchObject([{ id: project.id }])
  expect((await service.get(`/api/activity?limit=200`)).body.data).toEqual(
    expect.arrayContaining([expect.objectContaining({ type: 'person.created' })]),
  )
})
