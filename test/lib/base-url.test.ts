import { expect, test } from 'vitest'
import { baseUrlOf } from '../../src/lib/base-url.ts'

const request = { protocol: 'http', host: 'localhost:3000' }

test('is the configured URL, or else that of the request', () => {
  expect(baseUrlOf(request, 'https://inlet.example.com')).toBe('https://inlet.example.com')
  expect(baseUrlOf(request, undefined)).toBe('http://localhost:3000')
})
