import { describe, expect, test } from 'vitest'
import { isOfConnected } from '../../../src/dashboard/tasks/managed.ts'

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
