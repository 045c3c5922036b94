import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { isSignedWith } from '../../src/clients/github-signature.ts'

const BODY = Buffer.from('{"action":"opened"}')
const signatureOf = (secret: string, body = BODY) =>
  `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`

test('a body is signed with one of the secrets', async () => {
  const signature = signatureOf('current')
  expect(await isSignedWith(['current'], { body: BODY, signature })).toBe(true)
  expect(await isSignedWith(['current', 'previous'], { body: BODY, signature })).toBe(true)
  expect(
    await isSignedWith(['current', 'previous'], { body: BODY, signature: signatureOf('previous') }),
  ).toBe(true)
})

test('a body is not signed with other secrets, or with none', async () => {
  for (const secrets of [[], ['other'], ['other', 'another']])
    expect(await isSignedWith(secrets, { body: BODY, signature: signatureOf('current') })).toBe(false)
})

test('another body, and one without content, are not signed', async () => {
  const signature = signatureOf('current')
  expect(await isSignedWith(['current'], { body: Buffer.from('{}'), signature })).toBe(false)
  const empty = Buffer.alloc(0)
  expect(await isSignedWith(['current'], { body: empty, signature: signatureOf('current', empty) })).toBe(
    false,
  )
})
