import { describe, expect, test } from 'vitest'
import {
  deletionLock,
  isOfConnected,
  isTied,
  mergeLock,
  statusLock,
} from '../../../src/dashboard/tasks/managed.ts'

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

const alone = { mergedInto: null, reports: 1 }
const merged = { mergedInto: '0192f0c0-0000-7000-8000-000000000001', reports: 1 }
const reported = { mergedInto: null, reports: 2 }

test.each([
  [[], undefined],
  [[alone], undefined],
  [[reported], undefined],
  [[merged], 'This task is merged. Unmerge it'],
  [[merged, alone], undefined],
  [[merged, merged], 'These tasks are merged. Unmerge them'],
])('the status is locked only if all are merged: %j', (tasks, reason) => {
  expect(statusLock(tasks)?.slice(0, reason?.length)).toBe(reason)
})

test.each([
  [[], undefined],
  [[alone], undefined],
  [[reported], 'Other tasks are merged into this one'],
  [[merged], 'This task is merged. Unmerge it'],
  [[merged, alone], undefined],
  [[reported, alone], undefined],
  [[reported, merged], 'Other tasks are merged into this one'],
  [[reported, reported, alone], 'Other tasks are merged into several of these'],
  [[merged, merged], 'These tasks are merged. Unmerge them'],
])('merging is locked if it would be refused: %j', (tasks, reason) => {
  expect(mergeLock(tasks)?.slice(0, reason?.length)).toBe(reason)
})

test.each([
  [[], undefined],
  [[alone], undefined],
  [[merged], undefined],
  [[reported], 'Other tasks are merged into this one'],
  [[reported, alone], undefined],
  [[reported, reported], 'Other tasks are merged into each of these'],
])('deleting is locked if all have reports: %j', (tasks, reason) => {
  expect(deletionLock(tasks)?.slice(0, reason?.length)).toBe(reason)
})

test('what is merged stays in its project', () => {
  expect([alone, merged, reported].map(isTied)).toEqual([false, true, true])
})
