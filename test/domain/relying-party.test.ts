import { expect, test } from 'vitest'
import { relyingPartyOf, rpIdOf } from '../../src/domain/relying-party.ts'

test.each([
  [undefined, 'http://localhost:3000', 'localhost', 'http://localhost:3000'],
  [undefined, 'http://127.0.0.1:3000', undefined, undefined],
  [undefined, 'https://evil.example', undefined, undefined],
  [undefined, 'http://localhost.evil.example', undefined, undefined],
  [undefined, 'http://', undefined, undefined],
  ['http://localhost:8080', 'http://10.0.0.7', 'localhost', 'http://localhost:8080'],
  ['https://inlet.example.com', 'http://localhost:3000', 'inlet.example.com', 'https://inlet.example.com'],
  ['https://Inlet.Example.com:8443', 'http://x', 'inlet.example.com', 'https://inlet.example.com:8443'],
  ['http://inlet.example.com', 'http://localhost:3000', undefined, undefined],
  ['https://10.0.0.7', 'https://10.0.0.7', undefined, undefined],
  ['https://[2001:db8::7]', 'http://localhost:3000', undefined, undefined],
])('with the public URL %s, passkeys of a page at %s are for %s', (publicUrl, origin, id, at) => {
  expect(relyingPartyOf({ publicUrl, origin })).toEqual(id && { id, origin: at })
})

test('the host name of passkeys is known without a request', () => {
  expect(rpIdOf(undefined)).toBe('localhost')
  expect(rpIdOf('https://inlet.example.com')).toBe('inlet.example.com')
  expect(rpIdOf('http://inlet.example.com')).toBeUndefined()
})
