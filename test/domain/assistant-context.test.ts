import fc from 'fast-check'
import { expect, test } from 'vitest'
import { briefRule, briefTasks } from '../../src/domain/assistant-context.ts'
import { estimateTokens, sizeOfRule, withinBudget } from '../../src/domain/context-budget.ts'
import type { Context, TaskBrief } from '../../src/schemas/context.ts'
import type { Rule } from '../../src/schemas/rule.ts'

const now = '2026-11-21T08:15:30.000Z'
const text = (maxLength: number) =>
  fc.string({
    unit: fc.constantFrom('a', ' ', '\n', '"', '`', '日', '\u0007', '🔥'),
    minLength: 1,
    maxLength,
  })
const actor = { type: 'key' as const, id: null, name: 'k' }

const rule = fc.record({ id: fc.uuid(), content: text(300), priority: fc.double({ noNaN: true }) }).map(
  (rule): Rule => ({
    ...rule,
    isActive: true,
    paths: [],
    projectId: null,
    version: 1,
    createdAt: now,
    updatedAt: now,
    updatedBy: actor,
  }),
)
const list = fc
  .record({ id: fc.uuid(), name: text(100), projectId: fc.uuid(), projectName: text(100) })
  .map((list) => ({ ...list, isDefault: false, openCount: 1 }))
const task = fc
  .record({
    id: fc.uuid(),
    title: text(500),
    labels: fc.array(text(100), { maxLength: 20 }),
    projectId: fc.uuid(),
  })
  .map(
    (task) =>
      ({
        ...task,
        descriptionReadOnly: true,
        status: 'open',
        priority: 'low',
        source: 'api',
        sourceId: null,
        listId: task.id,
        externalId: null,
        externalUrl: null,
        assignees: [],
        codehostIssueNumber: null,
        codehostPrNumber: null,
        closedReason: null,
        sourceState: 'present',
        commentCount: 0,
        mergedInto: null,
        reports: 1,
        writeBack: null,
        author: null,
        isDraft: null,
        createdBy: actor,
        createdAt: now,
        openedAt: now,
        updatedAt: now,
        completedAt: null,
        version: 1,
      }) as unknown as TaskBrief,
  )

const context = fc
  .record({
    instructions: fc.array(rule, { maxLength: 20 }),
    lists: fc.array(list, { maxLength: 10 }),
    recent: fc.array(task, { maxLength: 10 }),
  })
  .map(
    ({ recent, lists, ...rest }): Context => ({
      ...rest,
      lists,
      project: null,
      // The name of the list is one of what a line has beside the task.
      tasks: {
        open: 1,
        inProgress: 2,
        recent: recent.map((task, n) => ({ ...task, listId: lists[n % lists.length]?.id ?? task.listId })),
      },
      notice: 'n',
      serverTime: now,
      omitted: [],
      omittedCount: 0,
    }),
  )

test('the structured content of a context is within its budget, or no larger than without any item', () => {
  fc.assert(
    fc.property(context, fc.integer({ min: 1, max: 6_000 }), (whole, budget) => {
      const sized = whole.instructions.map((rule) => ({ ...sizeOfRule(rule), rule }))
      const { instructions, ...rest } = withinBudget({ ...whole, instructions: sized }, budget)
      const shown = { instructions: instructions.map(({ rule }) => briefRule(rule)), ...briefTasks(rest) }
      const isEmpty = instructions.length + rest.lists.length + (rest.tasks?.recent.length ?? 0) === 0
      const tokens = estimateTokens(JSON.stringify(shown))
      if (isEmpty && rest.omitted.length === 0) expect(tokens).toBeLessThan(100)
      else expect(tokens).toBeLessThanOrEqual(budget)
    }),
    { numRuns: 300 },
  )
})
