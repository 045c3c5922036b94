import { describe, expect, test, vi } from 'vitest'
import { fairSemaphore, type Refusal, type Share } from '../../src/lib/fair-semaphore.ts'

const caller = (name: string, max = 2): Share => ({ name, max, isReserved: false })
const job: Share = { name: 'jobs', max: 2, isReserved: true }

/** Turns of which each place is given back by hand, and in which order they came. */
function watched(options: { places: number; reserved: number }) {
  const all = fairSemaphore(options)
  const came: string[] = []
  const refused: [string, Refusal][] = []
  return {
    came,
    refused,
    waiting: all.waiting,
    take: (share: Share, label = share.name, wait: { maxMs?: number; isGone?: () => boolean } = {}) =>
      all.take(share, {
        maxMs: 60_000,
        ...wait,
        onTurn: (refusal) => void (refusal ? refused.push([label, refusal]) : came.push(label)),
      }),
    giveBack: (share: Share, hasFailed = false) => all.giveBack(share, { hasFailed }),
  }
}

describe('turns', () => {
  test('come at once while there is a place', () => {
    const { take, came, waiting } = watched({ places: 2, reserved: 0 })
    take(caller('a'))
    take(caller('b'))
    expect(came).toEqual(['a', 'b'])
    expect(waiting()).toBe(0)
  })

  test('let nobody have more than a share, whoever else is there', () => {
    const { take, came, giveBack, waiting } = watched({ places: 10, reserved: 0 })
    for (const label of ['a1', 'a2', 'a3']) take(caller('a'), label)
    take(caller('b'))
    expect(came).toEqual(['a1', 'a2', 'b'])
    expect(waiting()).toBe(1)
    giveBack(caller('a'))
    expect(came).toEqual(['a1', 'a2', 'b', 'a3'])
    expect(waiting()).toBe(0)
  })

  test('go round by name: one who waits once comes before the second of another', () => {
    const { take, came, giveBack } = watched({ places: 1, reserved: 0 })
    for (const label of ['a1', 'a2', 'a3', 'a4']) take(caller('a'), label)
    for (const label of ['b1', 'b2']) take(caller('b'), label)
    take(caller('c'))
    giveBack(caller('a'))
    for (const name of ['a', 'b', 'c', 'a', 'b']) giveBack(caller(name))
    expect(came).toEqual(['a1', 'a2', 'b1', 'c', 'a3', 'b2', 'a4'])
  })

  test('leave places to what has a reserved share, which may take all', () => {
    const { take, came, giveBack } = watched({ places: 3, reserved: 1 })
    for (const name of ['a', 'b', 'c']) take(caller(name))
    take(job, 'job 1')
    take(job, 'job 2')
    expect(came).toEqual(['a', 'b', 'job 1'])
    giveBack(caller('a'))
    expect(came.slice(3)).toEqual(['c'])
    giveBack(caller('b'))
    expect(came.slice(4)).toEqual(['job 2'])
  })

  test('that nobody waits for anymore go to the next', () => {
    const { take, came, refused, giveBack } = watched({ places: 1, reserved: 0 })
    take(caller('a'), 'a1')
    take(caller('a'), 'left', { isGone: () => true })
    take(caller('b'))
    giveBack(caller('a'))
    expect(refused).toEqual([['left', 'busy']])
    expect(came).toEqual(['a1', 'b'])
  })

  test('that come too late say whether it was for others of the same name', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const { take, came, refused, giveBack, waiting } = watched({ places: 2, reserved: 0 })
      take(caller('a', 1), 'a1')
      take(caller('b', 1), 'b1')
      take(caller('a', 1), 'a2', { maxMs: 2_000 })
      take(caller('c', 1), 'c', { maxMs: 2_000 })
      vi.advanceTimersByTime(1_000)
      giveBack(caller('b', 1))
      expect(came).toEqual(['a1', 'b1', 'c'])
      vi.advanceTimersByTime(1_000)
      expect(refused).toEqual([['a2', 'busy']])
      expect(waiting()).toBe(0)
    } finally {
      vi.useRealTimers()
    }
  })

  test.each([
    ['nothing was completed meanwhile', undefined],
    ['all that ended meanwhile had failed', true],
  ])('that come too late say where %s', (_, hasFailed) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const { take, refused, giveBack } = watched({ places: 2, reserved: 0 })
      take(caller('a', 1), 'a1')
      take(caller('b', 1), 'b1')
      take(caller('a', 1), 'a2', { maxMs: 2_000 })
      if (hasFailed) giveBack(caller('b', 1), hasFailed)
      vi.advanceTimersByTime(2_000)
      expect(refused).toEqual([['a2', 'stuck']])
    } finally {
      vi.useRealTimers()
    }
  })

  test('that come too late where the name has none say that all places are taken', () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const { take, refused } = watched({ places: 1, reserved: 0 })
      take(caller('a'))
      take(caller('b'), 'b', { maxMs: 2_000 })
      vi.advanceTimersByTime(2_000)
      expect(refused).toEqual([['b', 'full']])
    } finally {
      vi.useRealTimers()
    }
  })

  test('forget names that hold nothing, also after a refusal', () => {
    const { take, came, giveBack } = watched({ places: 1, reserved: 0 })
    for (let round = 0; round < 3; round++) {
      take(caller('a'), `a${round}`)
      giveBack(caller('a'))
    }
    expect(came).toEqual(['a0', 'a1', 'a2'])
    // Nothing is held under this name.
    giveBack(caller('unknown'))
    take(caller('b'))
    expect(came.at(-1)).toBe('b')
  })
})
