import { describe, expect, test } from 'vitest'
import { isClosedThere, writesComments, writesState } from '../../../src/domain/codehost/write-back.ts'

const CONNECTION = { id: 'a connection', repositoryId: 1, writeBack: 'comments' } as const
const TASK = {
  source: 'codehost',
  codehostRepositoryId: 1,
  codehostKind: 'issue',
  codehostState: 'closed',
  sourceState: 'present',
  closedReason: null,
} as const

describe('a change of a task', () => {
  test('is written to the repository that the task is of', () => {
    expect([writesState(TASK, CONNECTION), writesComments(TASK, CONNECTION)]).toEqual([true, true])
    expect(isClosedThere(TASK, CONNECTION)).toBe(true)
  })

  test.each([
    ['whose item is gone', { ...TASK, sourceState: 'deleted' as const }, CONNECTION],
    ['of another repository', { ...TASK, codehostRepositoryId: 2 }, CONNECTION],
    ['of another source', { ...TASK, source: 'api' as const }, CONNECTION],
    ['without a connection', TASK, undefined],
  ])('%s is not written', (_, task, connection) => {
    expect([writesState(task, connection), writesComments(task, connection)]).toEqual([false, false])
    expect(isClosedThere(task, connection)).toBe(false)
  })

  test('is written as far as the connection says, and the state of pull requests never', () => {
    const state = { ...CONNECTION, writeBack: 'state' as const }
    expect([writesState(TASK, state), writesComments(TASK, state)]).toEqual([true, false])
    const off = { ...CONNECTION, writeBack: 'off' as const }
    expect([writesState(TASK, off), writesComments(TASK, off)]).toEqual([false, false])
    const pullRequest = { ...TASK, codehostKind: 'pull_request' as const }
    expect([writesState(pullRequest, CONNECTION), writesComments(pullRequest, CONNECTION)]).toEqual([
      false,
      true,
    ])
  })
})
