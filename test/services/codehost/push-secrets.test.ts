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
    previousWebhookSecret: previous?.sealed ?? null,
    previousWebhookSecretUntil: new Date(NOW.getTime() + ms),
  }

  const { texts } = vault.webhookSecretsOf(connection, NOW)

  expect(texts).toEqual(isValid ? [current?.text, previous?.text] : [current?.text])
})
