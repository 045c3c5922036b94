import fc from 'fast-check'
import { expect, test } from 'vitest'
import { briefRule, briefTasks } from '../../src/domain/assistant-context.ts'
import { estimateTokens, sizeOfRule, withinBudget } from '../../src/domain/context-budget.ts'
import { anyContext } from '../support/contexts.ts'

test('the structured content of a context is within its budget, or no larger than without any item', () => {
  fc.assert(
    fc.property(anyContext, fc.integer({ min: 1, max: 6_000 }), (whole, budget) => {
      const sized = whole.instructions.map((rule) => ({ ...sizeOfRule(rule), rule }))
      const { instructions, ...rest } = withinBudget({ ...whole, instructions: sized }, budget)
      const shown = { instructions: instructions.map(({ rule }) => briefRule(rule)), ...briefTasks(rest) }
      const isEmpty = instructions.length + rest.lists.length + (rest.tasks?.recent.length ?? 0) === 0
      const tokens = estimateTokens(JSON.stringify(shown))
      if (isEmpty && rest.omitted.length === 0) expect(tokens).toBeLessThan(300)
      else expect(tokens).toBeLessThanOrEqual(budget)
    }),
    { numRuns: 300 },
  )
})
