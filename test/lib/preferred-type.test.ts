import { expect, test } from 'vitest'
import { preferredType } from '../../src/lib/preferred-type.ts'

test.each([
  [undefined, 'application/json'],
  ['', 'application/json'],
  ['*/*', 'application/json'],
  ['text/csv', 'text/csv'],
  ['text/csv, application/json', 'application/json'],
  ['text/csv;q=0.9, application/json;q=0.8', 'text/csv'],
  ['text/csv; q=0.2 , application/json ; q=0.8', 'application/json'],
  ['text/csv;q=0, */*;q=0.1', 'application/json'],
  ['application/json;q=0, */*', 'text/csv'],
  ['text/*, application/json;q=0.9', 'text/csv'],
  ['text/csv;header=present;q=1, application/json;q=0.1', 'text/csv'],
  ['image/png', 'application/json'],
  ['text/csv;q=nonsense', 'text/csv'],
  [',;,', 'application/json'],
])('Accept: %s prefers %s', (accept, type) => {
  expect(preferredType(accept, ['application/json', 'text/csv'])).toBe(type)
})
