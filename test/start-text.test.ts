import { expect, test } from 'vitest'
import { isSentInClear } from '../src/start-text.ts'

test.each([
  ['127.0.0.1', undefined, false],
  ['localhost', 'http://localhost:3000', false],
  ['::1', undefined, false],
  ['0.0.0.0', undefined, true],
  ['::', 'http://inlet.example.com', true],
  ['10.0.0.7', undefined, true],
  ['0.0.0.0', 'https://inlet.example.com', false],
])(
  'a start that listens on %s, with the public URL %s, warns of unencrypted keys: %s',
  (host, publicUrl, is) => {
    expect(isSentInClear({ host, publicUrl })).toBe(is)
  },
)
