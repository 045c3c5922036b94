import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { codeOf, startApp, type TestApp } from '../support/app.ts'
import { passTime } from '../support/database-clock.ts'
import { UNKNOWN_ID } from '../support/patterns.ts'
import { accept, PASSWORD, person, signedIn, signInAs } from '../support/people.ts'

const DAY_MS = 86_400_000

let service: TestApp
beforeAll(async () => {
  service = await startApp({ hasDatabaseClock: true })
})
afterAll(() => service.close())

const invite = async (body: object = {}, key?: string) =>
  (await service.post('/api/invites', { name: 'Ada', role: 'member', ...body }, key ? { key } : {})).body

describe('an invite', () => {
  test('lets somebody in once, with its role, projects, and name', async () => {
    const project = await service.given.project()
    const { id, secret, url, ...shown } = await invite({ projectIds: [project.id], email: 'ada@example.com' })
    expect(shown).toMatchObject({ role: 'member', projectIds: [project.id], invitedBy: { type: 'key' } })
    expect(url).toBeNull()
    expect((await service.get('/api/invites')).body.data).toContainEqual(expect.objectContaining({ id }))

    const response = await accept(service, { secret, username: 'ada', password: PASSWORD })
    expect([response.status, response.body]).toMatchObject([
      201,
      { name: 'Ada', keyId: null, isCurrent: true },
    ])
    expect(response.headers.get('set-cookie')).toMatch(
      /^inlet_session=[\w-]{43}; .*HttpOnly; SameSite=Strict$/,
    )
    const me = (await service.get('/api/me', signedIn(service, { response, username: 'ada' }).with)).body
    expect(me).toMatchObject({
      type: 'session',
      keyId: null,
      user: { username: 'ada', name: 'Ada', email: 'ada@example.com', role: 'member', isActive: true },
      projectIds: [project.id],
      projectId: project.id,
      expiresAt: null,
    })
    expect(codeOf(await accept(service, { secret, username: 'eve', password: PASSWORD }))).toEqual([
      410,
      'invite_invalid',
    ])
    expect((await service.get('/api/invites')).body.data).toEqual([])
  })

  test('is accepted by one of twenty at once', async () => {
    const { secret } = await invite()
    const tries = Array.from({ length: 20 }, (_, n) =>
      accept(service, { secret, username: `racer-${n}`, password: PASSWORD }),
    )
    const codes = (await Promise.all(tries)).map(codeOf)
    expect(codes.filter(([status]) => status === 201)).toHaveLength(1)
    expect(codes.filter(([, code]) => code === 'invite_invalid')).toHaveLength(19)
  })

  test('stays valid if the username is taken or reserved, and says so', async () => {
    const { username } = await person(service)
    const { secret } = await invite()
    for (const taken of [username, 'me', 'none']) {
      const refused = await accept(service, { secret, username: taken, password: PASSWORD })
      expect(codeOf(refused)).toEqual([409, 'username_taken'])
    }
    const response = await accept(service, { secret, username: 'free', name: 'Ada L.', password: PASSWORD })
    expect([response.status, response.body.name]).toEqual([201, 'Ada L.'])
  })

  test('expires by the clock of the database, can be withdrawn, and is not guessed', async () => {
    const [late, withdrawn] = [await invite(), await invite()]
    await passTime(service, 7 * DAY_MS - 60_000)
    expect((await service.get('/api/invites')).body.data).toHaveLength(2)
    expect((await service.delete(`/api/invites/${withdrawn.id}`)).status).toBe(204)
    expect(codeOf(await service.delete(`/api/invites/${withdrawn.id}`))).toEqual([404, 'invite_not_found'])
    await passTime(service, 60_001)
    for (const secret of [late.secret, withdrawn.secret, 'guessed']) {
      const refused = await accept(service, { secret, username: 'late', password: PASSWORD })
      expect(codeOf(refused)).toEqual([410, 'invite_invalid'])
    }
    expect((await service.get('/api/invites')).body.data).toEqual([])
    await service.service.cleanup.cleanUp()
    expect(await service.query('select id from invites')).toEqual([])
  })

  test.each([
    ['no name', { name: undefined }, '/name'],
    ['no role', { role: undefined }, '/role'],
    ['an unknown role', { role: 'admin' }, '/role'],
    ['an owner of one project', { role: 'owner', projectIds: [UNKNOWN_ID] }, '/projectIds'],
    ['no project', { projectIds: [] }, '/projectIds'],
    ['a role with a new password', { userId: UNKNOWN_ID, name: undefined }, '/role'],
    ['a name that reorders text', { name: 'Inlet \u202eadmin' }, '/name'],
    ['a NUL in the name', { name: 'a\0b' }, '/name'],
    ['no address', { email: 'a\r\nb@c' }, '/email'],
  ])('is refused with %s', async (_, body, path) => {
    const response = await service.post('/api/invites', { name: 'Ada', role: 'member', ...body })
    expect([...codeOf(response), response.body.errors[0].path]).toEqual([400, 'validation_failed', path])
  })

  test.each([
    ['a short password', { password: 'too short' }, '/password'],
    ['a long one', { password: 'x'.repeat(129) }, '/password'],
    ['a username of one letter', { username: 'a' }, '/username'],
    ['a username in capitals', { username: 'Ada' }, '/username'],
    ['no username', { username: undefined }, '/username'],
  ])('is not accepted with %s', async (_, body, path) => {
    const { secret } = await invite()
    const response = await accept(service, { secret, username: 'somebody', password: PASSWORD, ...body })
    expect([...codeOf(response), response.body.errors[0].path]).toEqual([400, 'validation_failed', path])
    expect(JSON.stringify(response.body)).not.toContain('too short')
  })

  test('is not read beyond a few KiB', async () => {
    const response = await accept(service, { secret: 's', password: 'x'.repeat(10_000_000) })
    expect(codeOf(response)).toEqual([413, 'body_too_large'])
  })
})

describe('who invites', () => {
  test('is an owner, or an admin key of all projects that does not expire', async () => {
    const project = await service.given.project()
    const owner = await person(service, { role: 'owner' })
    const member = await person(service)
    const keys = [
      await service.given.key({ projectId: project.id }),
      await service.given.key({ expiresAt: new Date(Date.now() + DAY_MS) }),
      await service.given.key({ scopes: ['tasks:read', 'tasks:write'] }),
    ]
    const body = { name: 'Ada', role: 'viewer' }
    for (const options of [...keys.map((key) => ({ key })), member.with]) {
      expect(codeOf(await service.post('/api/invites', body, options))).toEqual([403, 'insufficient_scope'])
    }
    const made = await service.post('/api/invites', body, owner.with)
    expect([made.status, made.body.invitedBy]).toMatchObject([201, { type: 'user', id: owner.id }])
  })

  test('must still be allowed to when the invite is accepted', async () => {
    await person(service, { role: 'owner' })
    const owner = await person(service, { role: 'owner' })
    const key = await service.given.key()
    const byKey = await invite({}, key)
    const demoted = (await service.post('/api/invites', { name: 'Ada', role: 'member' }, owner.with)).body
    await service.delete(`/api/keys/${(await service.get('/api/me', { key })).body.id}`)
    await service.patch(`/api/users/${owner.id}`, { role: 'member' })
    for (const { secret } of [byKey, demoted]) {
      const refused = await accept(service, { secret, username: 'late-guest', password: PASSWORD })
      expect(codeOf(refused)).toEqual([410, 'invite_invalid'])
    }
    // They are gone, also for an owner who is one again.
    await service.patch(`/api/users/${owner.id}`, { role: 'owner' })
    const refused = await accept(service, { secret: demoted.secret, username: 'guest', password: PASSWORD })
    expect(codeOf(refused)).toEqual([410, 'invite_invalid'])
    const { data } = (await service.get('/api/invites')).body
    expect(data.map(({ invitedBy }: { invitedBy: { id: string } }) => invitedBy.id)).not.toContain(owner.id)
  })
})

describe('an invite for a new password', () => {
  test('changes the password and nothing else, and ends every session and other invite', async () => {
    const ada = await person(service)
    const other = (await service.post('/api/invites', { userId: ada.id })).body
    const { secret, role } = (await service.post('/api/invites', { userId: ada.id })).body
    expect(role).toBeNull()
    const named = await accept(service, { secret, username: 'new-name', password: PASSWORD })
    expect(codeOf(named)).toEqual([400, 'validation_failed'])

    const password = 'another long password'
    const response = await accept(service, { secret, password })
    expect([response.status, response.body.userId]).toEqual([201, ada.id])
    expect(codeOf(await service.get('/api/me', ada.with))).toEqual([401, 'invalid_credentials'])
    expect(
      (await service.get('/api/me', signedIn(service, { response, username: '' }).with)).body.user,
    ).toMatchObject({ username: ada.username, role: 'member' })
    expect(codeOf(await accept(service, { secret: other.secret, password }))).toEqual([410, 'invite_invalid'])
    expect(codeOf((await signInAs(service, ada.username)).response)).toEqual([401, 'invalid_credentials'])
    expect((await signInAs(service, ada.username, password)).response.status).toBe(201)
  })

  test('of one’s own needs a sign-in that is less than ten minutes old', async () => {
    const ada = await person(service, { role: 'owner' })
    await passTime(service, 10 * 60_000)
    service.service.access.forget()
    const make = ({ with: options }: { with: object }) =>
      service.post('/api/invites', { userId: ada.id }, options)
    expect(codeOf(await make(ada))).toEqual([403, 'sign_in_again'])
    expect((await make(await signInAs(service, ada.username))).status).toBe(201)
  })

  test('is for an active person, also when it is accepted', async () => {
    const ada = await person(service)
    const { secret } = (await service.post('/api/invites', { userId: ada.id })).body
    await service.patch(`/api/users/${ada.id}`, { isActive: false })
    expect(codeOf(await accept(service, { secret, password: PASSWORD }))).toEqual([410, 'invite_invalid'])
    for (const userId of [ada.id, UNKNOWN_ID]) {
      expect(codeOf(await service.post('/api/invites', { userId }))).toEqual([404, 'user_not_found'])
    }
  })
})

test('neither the activity log nor the database has a secret, an address, or a password in clear', async () => {
  const { secret } = await invite({ email: 'secret-address@example.com' })
  const password = 'a password like no other'
  await accept(service, { secret, username: 'private', password })
  const rows = await service.query(`select row_to_json(a)::text as row from activity a
    union all select row_to_json(i)::text from invites i union all select row_to_json(p)::text from passwords p
    union all select row_to_json(s)::text from sessions s`)
  const text = rows.map(({ row }) => row).join('\n')
  for (const hidden of [secret, password]) expect(text).not.toContain(hidden)
  const log = await service.query('select row_to_json(a)::text as row from activity a')
  expect(log.map(({ row }) => row).join('\n')).not.toContain('secret-address')
})
