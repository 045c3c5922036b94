import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { tokenVault } from '../../../src/services/codehost/token.ts'

const NOW = new Date('2026-11-23T12:00:00Z')
const vault = tokenVault({ apiUrls: [], token: undefined, encryptionKeys: [randomBytes(32)], randomBytes })

test.each([
  ['is valid until the end of its overlap', 1, true],
  ['has ended with its overlap', 0, false],
  ['has ended since', -1, false],
])('the previous secret for deliveries of the code host %s', (_, ms, isValid) => {
  const [current, previous] = [vault.newWebhookSecret('a connection'), vault.newWebhookSecret('a connection')]
  const connection = {
    id: 'a connection',
    webhookSecret: current?.sealed ?? null,
    previousWebhookSecrets: [
      { secret: previous?.sealed ?? '', until: new Date(NOW.getTime() + ms).toISOString() },
    ],
  }

  const { texts } = vault.webhookSecretsOf(connection, NOW)

  expect(texts).toEqual(isValid ? [current?.text, previous?.text] : [current?.text])
})

test('a stored token, and that of the operator, are for no host that is not allowed any more', () => {
  const keys = [randomBytes(32)] as const
  const vaultFor = (apiUrls: string[]) =>
    tokenVault({ apiUrls, token: 'of the operator', encryptionKeys: [...keys], randomBytes })
  const before = vaultFor(['https://host.example', 'https://other.example'])
  const own = { id: 'a', apiUrl: 'https://other.example', ...before.seal({ token: 'stored' }, 'a') }
  expect(before.accessOf(own)).toMatchObject({ apiUrl: 'https://other.example', token: 'stored' })

  const after = vaultFor(['https://host.example'])
  const without = { id: 'a', apiUrl: 'https://other.example', token: null, app: null }
  for (const connection of [own, without]) {
    const access = after.accessOf(connection)
    expect(access).toMatchObject({ code: 'codehost_url_not_allowed' })
    expect(access).not.toHaveProperty('token')
  }
})
