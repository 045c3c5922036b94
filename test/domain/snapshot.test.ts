import { describe, expect, test } from 'vitest'
import { parseSnapshot, spanBetween } from '../../src/domain/snapshot.ts'

const between = (earlier: string, later: string, lifeOfLater = '1') =>
  spanBetween(parseSnapshot({ text: earlier, life: '1' }), parseSnapshot({ text: later, life: lifeOfLater }))

describe('the transactions that became visible between two snapshots', () => {
  test.each([
    [
      'a transaction that began and ended',
      '10:10:',
      '11:11:',
      { finished: [], from: '10', to: '11', without: [] },
    ],
    ['one that was running', '10:12:10', '12:12:', { finished: ['10'], from: '12', to: '12', without: [] }],
    [
      'all but what still runs, from before and since',
      '10:15:10,12',
      '10:20:10,17,19',
      { finished: ['12'], from: '15', to: '20', without: ['17', '19'] },
    ],
    [
      'numbers beyond 32 and 53 bits',
      '4294967296:4294967297:4294967296',
      '9007199254740993:9007199254740993:',
      { finished: ['4294967296'], from: '4294967297', to: '9007199254740993', without: [] },
    ],
  ])('are %s', (_, earlier, later, span) => {
    expect(between(earlier, later)).toEqual(span)
  })

  test('are unknown when the later snapshot is older', () => {
    expect(between('10:20:', '5:6:')).toBeUndefined()
  })

  test('are unknown after a crash, because numbers are assigned again', () => {
    expect(between('10:20:', '30:30:', '2')).toBeUndefined()
  })
})
