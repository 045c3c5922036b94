import { describe, expect, test } from 'vitest'
import { isOfConnected, statusLock } from '../../../src/dashboard/tasks/managed.ts'

const externalUrl = 'https://codehost.example/acme/app/issues/1'

describe('a task of the code host', () => {
  test.each([
    ['its repository is connected', externalUrl, 'acme/app', true],
    ['the name differs in case', externalUrl, 'Acme/App', true],
    ['it has no URL', null, 'acme/app', true],
    ['another repository is connected', externalUrl, 'acme/other', false],
    ['it was disconnected', externalUrl, undefined, false],
    ['it was disconnected, without a URL', null, undefined, false],
  ])('where %s: managed %#', (_, url, repository, expected) => {
    const codehost = repository === undefined ? null : ({ repository } as never)
    expect(isOfConnected({ externalUrl: url }, { codehost })).toBe(expected)
  })
})

test('the status of a merged task is locked', () => {
  expect(statusLock({ mergedInto: null })).toBeUndefined()
  expect(statusLock({ mergedInto: '0192f0c0-0000-7000-8000-000000000001' })).toContain('Unmerge it')
})
