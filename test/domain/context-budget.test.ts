import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  estimateTokens,
  sizeOfRule,
  withinBudget as withinBudgetOf,
} from '../../src/domain/context-budget.ts'
import { contextMarkdown } from '../../src/domain/context-markdown.ts'
import type { Context } from '../../src/schemas/context.ts'
import { anyContext, anyRule } from '../support/contexts.ts'

async function sizes(context: Context) {
  const pieces: string[] = []
  for await (const piece of contextMarkdown(context)) pieces.push(piece)
  return [estimateTokens(JSON.stringify(context)), estimateTokens(pieces.join(''))]
}

/** The same for a context with whole rules. */
function withinBudget(context: Context, budget: number): Context {
  const instructions = context.instructions.map((rule) => ({ ...sizeOfRule(rule), rule }))
  const cut = withinBudgetOf({ ...context, instructions }, budget)
  return { ...cut, instructions: cut.instructions.map(({ rule }) => rule) }
}

const idsOf = ({ instructions, lists, tasks }: Context) =>
  [...instructions, ...lists, ...(tasks?.recent ?? [])].map(({ id }) => id)
const empty = (context: Context) => withinBudget(context, 1)

describe('a context within a budget', () => {
  test('never exceeds it in either format, except for the minimum', async () => {
    await fc.assert(
      fc.asyncProperty(anyContext, fc.integer({ min: 1, max: 8_000 }), async (whole, budget) => {
        const cut = withinBudget(whole, budget)
        const [json = 0, markdown = 0] = await sizes(cut)
        if (idsOf(cut).length + cut.omitted.length > 0)
          expect(Math.max(json, markdown)).toBeLessThanOrEqual(budget)
        else expect(await sizes(cut)).toEqual(await sizes(empty(whole)))
      }),
      { numRuns: 300 },
    )
  })

  test('is not exceeded by the count of the omissions that are not named', async () => {
    const [first, second] = fc.sample(anyRule, { numRuns: 2, seed: 1 }).map((rule) => ({
      ...rule,
      content: 'x'.repeat(400),
    }))
    const [base] = fc.sample(anyContext, { numRuns: 1, seed: 1 })
    const whole = { ...base, instructions: [first, second], lists: [] } as Context
    whole.tasks = { open: 1, inProgress: 2, recent: [] }
    for (let budget = 1; budget < 600; budget++) {
      const cut = withinBudget(whole, budget)
      if (cut.omitted.length > 0) expect(Math.max(...(await sizes(cut)))).toBeLessThanOrEqual(budget)
    }
  })

  test('includes or counts every item, keeps the order, and names at most 20 omissions', () => {
    fc.assert(
      fc.property(anyContext, fc.integer({ min: 1, max: 8_000 }), (whole, budget) => {
        const cut = withinBudget(whole, budget)
        const kept = new Set(idsOf(cut))
        const left = idsOf(whole).filter((id) => !kept.has(id))
        expect(idsOf(cut)).toEqual(idsOf(whole).filter((id) => kept.has(id)))
        expect(cut.omittedCount).toBe(left.length)
        expect(cut.omitted.length).toBeLessThanOrEqual(20)
        expect(cut.omitted.map(({ id }) => id)).toEqual(left.slice(0, cut.omitted.length))
      }),
      { numRuns: 300 },
    )
  })

  test('omits nothing that clearly fits', async () => {
    await fc.assert(
      fc.asyncProperty(anyContext, fc.integer({ min: 1, max: 8_000 }), async (whole, budget) => {
        const cut = withinBudget(whole, budget)
        const spare = budget - Math.max(...(await sizes(cut)))
        const left = whole.instructions.filter(({ id }) => !idsOf(cut).includes(id))
        for (const rule of left) {
          expect(estimateTokens(JSON.stringify(rule)) * 2 + 200 + budget / 10).toBeGreaterThan(spare)
        }
      }),
      { numRuns: 300 },
    )
  })

  test('is complete when everything fits', async () => {
    await fc.assert(
      fc.asyncProperty(anyContext, async (whole) => {
        expect(withinBudget(whole, Math.max(...(await sizes(whole))))).toEqual(whole)
      }),
    )
  })

  test('of two thousand rules is computed quickly', () => {
    const [rule] = fc.sample(anyRule, { numRuns: 1, seed: 1 })
    const whole = {
      ...fc.sample(anyContext, { numRuns: 1, seed: 1 })[0],
      instructions: [],
    } as unknown as Context
    const instructions = Array.from({ length: 2_000 }, (_, n) => ({
      ...rule,
      id: `019aa3d2-6f4e-7cc0-a1b2-${String(n).padStart(12, '0')}`,
      content: 'x'.repeat(n % 7 ? 8_000 : 40),
    })) as Context['instructions']
    const start = process.cpuUsage()
    const cut = withinBudget({ ...whole, instructions }, 20_000)
    const { user } = process.cpuUsage(start)
    expect(cut.omittedCount).toBeGreaterThan(1_000)
    expect(user / 1_000).toBeLessThan(2_000)
  })
})
