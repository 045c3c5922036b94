import { expect, test } from 'vitest'
import { sourceCurl } from '../../../src/dashboard/settings/source-curl.ts'
import type { SourceWithSecret } from '../../../src/dashboard/settings/source-queries.ts'

const source = (verify: Partial<SourceWithSecret['verify']>) =>
  ({
    url: 'https://inlet.example.com/in/sources/1',
    secret: 'inls_x',
    verify: { scheme: 'bearer', header: null, prefix: null, ...verify },
  }) as SourceWithSecret

test('a command sends the payload with the secret, quoted for a shell', () => {
  expect(sourceCurl(source({}), { title: "It's late" })).toBe(
    [
      `curl -s 'https://inlet.example.com/in/sources/1'`,
      `-H 'Authorization: Bearer inls_x'`,
      `-H 'Content-Type: application/json'`,
      `-d '{"title":"It'\\''s late"}'`,
    ].join(' \\\n  '),
  )
  const token = source({ scheme: 'token', header: 'X-Token', prefix: 'Token ' })
  expect(sourceCurl(token, {})).toContain(`-H 'X-Token: Token inls_x'`)
})

test('no command is shown for signed or long payloads', () => {
  expect(sourceCurl(source({ scheme: 'standard_webhooks' }), {})).toBeUndefined()
  expect(sourceCurl(source({}), { text: 'x'.repeat(2_000) })).toBeUndefined()
})
