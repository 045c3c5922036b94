import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { Problem } from '../../../../src/dashboard/api/problem.ts'
import { sendEach } from '../../../../src/dashboard/tasks/edits/send-each.ts'

describe('a request per item', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  test('is sent for six items at a time', async () => {
    let [now, most] = [0, 0]
    const done: number[] = []
    const sending = sendEach({
      items: numbers(50),
      async send(item) {
        most = Math.max(most, ++now)
        await wait(10)
        now--
        done.push(item)
      },
    })
    await vi.runAllTimersAsync()
    expect(await sending).toEqual([])
    expect([most, done.length]).toEqual([6, 50])
  })

  test('is sent again after a rate limit, and only then', async () => {
    const sent: number[] = []
    const sending = sendEach({
      items: numbers(10),
      async send(item) {
        sent.push(item)
        if (item === 3 && sent.filter((one) => one === 3).length === 1)
          throw new Problem(429, { retryAfterSeconds: 7 })
      },
    })
    await vi.advanceTimersByTimeAsync(6_900)
    expect(sent.filter((item) => item === 3)).toHaveLength(1)
    await vi.advanceTimersByTimeAsync(200)
    expect(await sending).toEqual([])
    expect(sent.filter((item) => item === 3)).toHaveLength(2)
  })

  test('fails for its item alone', async () => {
    const failures = await sendEach({
      items: numbers(20),
      async send(item) {
        if (item % 10 === 5) throw new Problem(503, { detail: 'Busy.' })
      },
    })
    expect(failures.map(({ item, problem }) => [item, problem.message])).toEqual([
      [5, 'Busy.'],
      [15, 'Busy.'],
    ])
  })

  test.each([0, 401])('is not sent for the rest after status %i', async (status) => {
    const sent: number[] = []
    const failures = await sendEach({
      items: numbers(100),
      async send(item) {
        sent.push(item)
        if (item >= 10) throw new Problem(status, {})
      },
    })
    expect(sent.length).toBeLessThan(20)
    expect(failures.map(({ item }) => item)).toEqual(numbers(100).slice(10))
  })
})

const numbers = (count: number) => [...Array(count).keys()]
const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
