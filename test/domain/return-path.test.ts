import { expect, test } from 'vitest'
import { returnPathOf } from '../../src/domain/return-path.ts'

test.each(['/', '/tasks/1?a=b#c', '/settings/account', '/%2F%2Fevil.example', '/a//b'])(
  '%j is a path of this service',
  (path) => {
    expect(returnPathOf(path)).toBe(path)
  },
)

test('a path is returned as it is sent to a browser', () => {
  expect(returnPathOf('/tasks?q=日本é')).toBe('/tasks?q=%E6%97%A5%E6%9C%AC%C3%A9')
})

test.each([
  '',
  '/.//evil.example',
  '/a/..//evil.example',
  '//evil.example',
  '/\\evil.example',
  '\\\\evil.example',
  '\\evil.example',
  '/a\\b',
  'https://evil.example',
  'javascript:alert(1)',
  'tasks',
  '/\t/evil.example',
  '/\n/evil.example',
  '/a\0',
  '/a\u0085',
  ` /a`,
  `/${'x'.repeat(2_000)}`,
])('%j is none', (path) => {
  expect(returnPathOf(path)).toBeUndefined()
})
