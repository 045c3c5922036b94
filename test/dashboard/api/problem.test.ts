import { describe, expect, test } from 'vitest'
import { problemOf } from '../../../src/dashboard/api/problem.ts'

describe('the problem of an error', () => {
  test.each([
    'TypeError: Failed to fetch dynamically imported module: http://127.0.0.1:3000/assets/panel-x.js',
    'TypeError: error loading dynamically imported module',
    'TypeError: Importing a module script failed.',
  ])('has a readable message for a failed dynamic import: %s', (text) => {
    const { message, code } = problemOf(new TypeError(text.replace('TypeError: ', '')))
    expect(code).toBe('unreachable')
    expect(message).toContain("Couldn't load part of this page")
    expect(message).not.toMatch(/TypeError|http/)
  })
})
