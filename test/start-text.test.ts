import { expect, test } from 'vitest'
import { hostInClear, urlOf } from '../src/start-text.ts'

test.each([
  ['127.0.0.1', undefined, undefined],
  ['localhost', 'http://localhost:3000', undefined],
  ['::1', undefined, undefined],
  ['0.0.0.0', undefined, '0.0.0.0'],
  ['::', 'http://inlet.example.com', '::'],
  ['10.0.0.7', undefined, '10.0.0.7'],
  ['0.0.0.0', 'https://inlet.example.com', undefined],
])('a start that listens on %s, with the public URL %s, warns of %s', (host, publicUrl, warned) => {
  expect(hostInClear({ host, publicUrl, webhookHost: host, webhookPort: undefined })).toBe(warned)
})

test.each([
  ['0.0.0.0', 4000, undefined, '0.0.0.0'],
  ['0.0.0.0', 4000, 'https://inlet.example.com', undefined],
  ['0.0.0.0', undefined, undefined, undefined],
  ['127.0.0.1', 4000, undefined, undefined],
])(
  'one that receives webhooks on %s, port %s, with the public URL %s, warns of %s',
  (webhookHost, webhookPort, publicUrl, warned) => {
    expect(hostInClear({ host: '127.0.0.1', webhookHost, webhookPort, publicUrl })).toBe(warned)
  },
)

test.each([
  ['127.0.0.1', 'http://localhost:3000'],
  ['0.0.0.0', 'http://localhost:3000'],
  ['::', 'http://localhost:3000'],
  ['10.0.0.7', 'http://10.0.0.7:3000'],
  ['2001:db8::7', 'http://[2001:db8::7]:3000'],
])('a start that listens on %s prints %s', (host, url) => {
  expect(urlOf({ host, port: 3000, address: null })).toBe(url)
})
