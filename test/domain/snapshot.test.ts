import { describe, expect, test } from 'vitest'
import { parseSnapshot, spanBetween } from '../../src/domain/snapshot.ts'

const between = (earlier: string, later: string, lifeOfLater = '1') =>
  spanBetween(parseSnapshot({ text: earlier, life: '1' }), parseSnapshot({ text: later, life: lifeOfLater }))

describe('what became visible between two snapshots', () => {
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
  ])('is %s', (_, earlier, later, span) => {
    expect(between(earlier, later)).toEqual(span)
  })

  test('is nothing that can be said when the later one is earlier', () => {
    expect(between('10:20:', '5:6:')).toBeUndefined()
  })

  test('is nothing that can be said after a crash: numbers below the earlier end are given again', () => {
    expect(between('10:20:', '30:30:', '2')).toBeUndefined()
  })
})
