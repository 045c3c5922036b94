import { expect, test } from 'vitest'
import { isLoopback } from '../../src/lib/loopback.ts'

test.each([
  ['http://localhost:8080', true],
  ['http://127.0.0.1', true],
  ['http://127.1', true],
  ['http://[::1]:80', true],
  ['http://localhost.evil.example', false],
  ['http://127.0.0.1.evil.example', false],
  ['http://10.0.0.1', false],
])('%s leads to this machine: %s', (url, expected) => {
  expect(isLoopback(new URL(url).hostname)).toBe(expected)
})
