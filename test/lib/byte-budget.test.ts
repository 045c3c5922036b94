import { describe, expect, test } from 'vitest'
import { byteBudget } from '../../src/lib/byte-budget.ts'

const full = new Error('full')
function given(waitMs = 60_000) {
  const budget = byteBudget({ maxBytes: 100, waitMs, refusal: () => full })
  let holders = 0
  // Each has a holder of its own unless one is given.
  return { ...budget, take: (bytes: number, holder = `${holders++}`) => budget.take(bytes, holder) }
}

describe('a budget of bytes', () => {
  test('admits what there is room for, and the others in order when there is room again', async () => {
    const budget = given()
    const order: number[] = []
    const takeInTurn = async (bytes: number) => {
      const release = await budget.take(bytes)
      order.push(bytes)
      return release
    }
    const release = await budget.take(80)
    const second = takeInTurn(60)
    // There is room for it, but it waits behind an earlier one.
    const third = takeInTurn(10)
    await Promise.resolve()
    expect(order).toEqual([])

    release()
    const [releaseSecond] = await Promise.all([second, third])

    expect(order).toEqual([60, 10])
    expect(budget.usedBytes()).toBe(70)
    releaseSecond()
    releaseSecond()
    expect(budget.usedBytes()).toBe(10)
  })

  test('admits alone what is larger than the budget', async () => {
    const budget = given()
    const release = await budget.take(500)
    const small = budget.take(1)
    release()
    await small
    expect(budget.usedBytes()).toBe(1)
  })

  test('refuses what has waited too long, and admits what waited behind it', async () => {
    const budget = given(20)
    await budget.take(90)
    const large = budget.take(50)
    const small = budget.take(10)

    await expect(large).rejects.toBe(full)
    await small
    expect(budget.usedBytes()).toBe(100)
  })

  test('admits one of a holder at a time, and those of others before its next', async () => {
    const budget = given()
    const order: string[] = []
    const takeInTurn = async (holder: string) => {
      const release = await budget.take(10, holder)
      order.push(holder)
      return release
    }
    const release = await takeInTurn('a')
    const second = takeInTurn('a')
    await takeInTurn('b')
    expect(order).toEqual(['a', 'b'])

    release()
    await second
    expect(order).toEqual(['a', 'b', 'a'])
  })
})
