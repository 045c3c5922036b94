import { describe, expect, test } from 'vitest'
import { problemOf } from '../../../src/dashboard/api/problem.ts'

describe('what went wrong', () => {
  test.each([
    'TypeError: Failed to fetch dynamically imported module: http://127.0.0.1:3000/assets/panel-x.js',
    'TypeError: error loading dynamically imported module',
    'TypeError: Importing a module script failed.',
  ])('is said in words of people where a part could not be loaded: %s', (text) => {
    const { message, code } = problemOf(new TypeError(text.replace('TypeError: ', '')))
    expect(code).toBe('unreachable')
    expect(message).toContain('A part of this page could not be loaded')
    expect(message).not.toMatch(/TypeError|http/)
  })
})
