import { afterAll, beforeAll, expect, test } from 'vitest'
import { startApp, type TestApp } from './support/app.ts'
import { spawnCommand } from './support/commands.ts'
import { accept, PASSWORD, person } from './support/people.ts'

let service: TestApp
beforeAll(async () => {
  service = await startApp()
})
afterAll(() => service.close())

async function users(words: string[], env: Record<string, string> = {}) {
  const command = spawnCommand(['users', ...words], {
    env: { DATABASE_URL: service.connectionString, ...env },
  })
  const { code } = await command.ended
  return { code, output: command.output() }
}

test('users are invited, listed, and deactivated on the command line, while Inlet runs', async () => {
  const invited = await users(['invite', '--name', 'Ada', '--role', 'owner'], {
    PUBLIC_URL: 'https://inlet.example',
  })
  const [, secret] = /https:\/\/inlet\.example\/invite#(\S+)\n/.exec(invited.output) ?? []
  expect([invited.code, secret]).toEqual([0, expect.any(String)])
  expect((await accept(service, { secret, username: 'ada', password: PASSWORD })).status).toBe(201)
  const bob = await person(service, { username: 'bob', role: 'viewer' })
  await service.post('/api/keys', { name: 'of Bob' }, bob.with)

  const gone = await users(['deactivate', 'bob'])
  expect(gone).toMatchObject({ code: 0, output: expect.stringContaining('Deactivated bob.') })
  await expect.poll(async () => (await service.get('/api/me', bob.with)).status).toBe(401)
  const { output } = await users(['list'])
  expect(output).toContain(
    'ada  Ada  owner  all projects\nbob  The viewer  viewer  all projects  deactivated\n',
  )
})

test.each([
  [['invite'], 'Usage:'],
  [['invite', '--name', ' '], '--name must have 1 to 100 characters.'],
  [['invite', '--name', 'A\u202eda'], 'name must be text without control characters'],
  [['invite', '--name', 'A\u0007da'], 'name must be text without control characters'],
  [['invite', '--name', 'Ada', '--role', 'admin'], '--role must be one of owner, member, viewer.'],
  [['deactivate'], 'Usage:'],
  [['deactivate', 'nobody'], 'No person has the username nobody.'],
  [['delete', 'ada'], 'Usage:'],
])('users %j says what is wrong', async (words, message) => {
  expect(await users(words)).toMatchObject({ code: 1, output: expect.stringContaining(message) })
})

test('the last owner is not deactivated', async () => {
  await service.query("update users set role = 'member' where role = 'owner'")
  await person(service, { username: 'last', role: 'owner' })
  const { code, output } = await users(['deactivate', 'last'])
  expect([code, output]).toEqual([1, expect.stringMatching(/^"The owner" is the last active owner\./)])
})

test('an invite that nobody could accept is refused, and the database is not blamed', async () => {
  const { code, output } = await users(['invite', '--name', 'Ada'], { PASSWORD_SIGN_IN: 'off' })
  expect([code, output]).toEqual([1, expect.stringContaining('PASSWORD_SIGN_IN is off')])
  expect(output).not.toContain('cannot be used')
})
