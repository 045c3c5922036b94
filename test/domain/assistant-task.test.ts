import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { assistantTask, taskWithinBudget } from '../../src/domain/assistant-task.ts'
import { estimateTokens } from '../../src/domain/context-budget.ts'
import { fencedMembers, UNTRUSTED } from '../../src/domain/untrusted.ts'
import type { Task } from '../../src/schemas/task.ts'

const text = (maxLength: number) =>
  fc.string({
    unit: fc.constantFrom('a', ' ', '\n', '"', '`', '<', '日', '\u0007', '🔥', '\u{e0041}'),
    maxLength,
  })

const comment = fc.record({
  id: fc.uuid(),
  author: text(20),
  authorType: fc.constant('key' as const),
  createdAt: fc.constant('2026-11-21T08:15:30.000Z'),
  body: text(400),
  isCut: fc.boolean(),
})
const related = fc.array(fc.record({ id: fc.uuid(), title: text(100) }), { maxLength: 5 })
const task = fc.record({
  id: fc.uuid(),
  version: fc.nat(),
  title: text(50),
  description: text(2_000),
  notes: text(2_000),
  comments: fc.array(comment, { maxLength: 20 }),
  latestReports: related,
  similar: related,
})

const sizes = (task: object) => [
  estimateTokens(JSON.stringify({ notice: UNTRUSTED, ...task })),
  estimateTokens(`${'x'.repeat(150)}\n\n${[...fencedMembers(task)].join('')}`),
]

describe('a task within a budget', () => {
  test('never exceeds it as JSON or as text', () => {
    fc.assert(
      fc.property(task, fc.integer({ min: 400, max: 4_000 }), (whole, budget) => {
        expect(Math.max(...sizes(taskWithinBudget(whole, budget)))).toBeLessThanOrEqual(budget)
      }),
    )
  })

  test('is whole if it fits, and names what was cut otherwise', () => {
    fc.assert(
      fc.property(task, fc.integer({ min: 1, max: 4_000 }), (whole, budget) => {
        const { cut = [], ...fitting } = taskWithinBudget(whole, budget)
        const differing = Object.entries(whole).flatMap(([name, value]) =>
          JSON.stringify(value) === JSON.stringify(fitting[name as keyof typeof fitting]) ? [] : name,
        )
        expect(differing).toEqual(cut.filter((name) => differing.includes(name)))
        expect(taskWithinBudget(whole, 1_000_000)).toEqual(whole)
      }),
    )
  })

  test('has the beginning of its texts and the latest of its comments', () => {
    const [base] = fc.sample(task, { numRuns: 1, seed: 1 })
    const comments = Array.from({ length: 20 }, (_, n) => ({
      ...(fc.sample(comment, { numRuns: 1, seed: 1 })[0] as never as object),
      body: `${n} ${'x'.repeat(300)}`,
    })) as NonNullable<typeof base>['comments']
    const whole = { ...base, description: 'd'.repeat(9_000), notes: 'Short.', comments } as NonNullable<
      typeof base
    >

    const { description, notes, comments: shown, cut } = taskWithinBudget(whole, 1_000)

    expect(cut).toEqual(['description', 'comments'])
    expect(description).toMatch(/^d{500,}…$/)
    expect(notes).toBe('Short.')
    expect(shown.at(-1)).toEqual(comments.at(-1))
    expect(shown.length).toBeGreaterThan(1)
  })

  test('gives its long texts the same, and what a short one leaves', () => {
    const [base] = fc.sample(task, { numRuns: 1, seed: 1 })
    const whole = { ...base, similar: [], comments: [], latestReports: [] } as unknown as NonNullable<
      typeof base
    >
    const texts = { description: 'd'.repeat(9_000), notes: 'n'.repeat(9_000) }

    const both = taskWithinBudget({ ...whole, ...texts }, 1_000)
    const one = taskWithinBudget({ ...whole, ...texts, notes: 'Short.' }, 1_000)

    expect(Math.abs(both.description.length - both.notes.length)).toBeLessThan(20)
    expect(one.description.length).toBeGreaterThan(1.9 * both.description.length)
    for (const fitting of [both, one]) expect(Math.max(...sizes(fitting))).toBeGreaterThan(950)
  })

  test('has the beginning of the last comment if there is no room for more', () => {
    const [base] = fc.sample(task, { numRuns: 1, seed: 1 })
    const [only] = fc.sample(comment, { numRuns: 1, seed: 1 })
    const comments = [{ ...only, body: 'x'.repeat(4_000), isCut: false }] as NonNullable<
      typeof base
    >['comments']

    const { comments: shown } = taskWithinBudget({ ...base, comments } as NonNullable<typeof base>, 500)

    expect(shown).toEqual([{ ...comments[0], body: expect.stringMatching(/^x{20,}…$/), isCut: true }])
  })
})

describe('a task for an assistant', () => {
  test('has neither metadata and keys of notes nor members that say nothing', () => {
    const brief = { id: 'a', version: 1, reports: 1 }
    const whole = { ...brief, notes: null, labels: [], metadata: { a: 1 }, noteKey: 'x' }
    expect(assistantTask(whole as unknown as Task)).toEqual(brief)
  })
})
