import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { taskLines } from '../../src/domain/task-lines.ts'
import { fenced, inertJson } from '../../src/domain/untrusted.ts'
import type { TaskBrief } from '../../src/schemas/context.ts'

const LIST = '019aa3d2-6f4e-7cc0-a1b2-3c4d5e6f7081'

const text = (maxLength: number) =>
  fc.string({
    unit: fc.constantFrom('a', ' ', '"', '\\', '`', '<', '日', '\u0007', '🔥', '\u{e0041}'),
    minLength: 1,
    maxLength,
  })
const task = fc.record({
  id: fc.uuid(),
  listId: fc.constant(LIST),
  title: text(500),
  status: fc.constantFrom('open', 'in_progress', 'done'),
  priority: fc.constantFrom('low', 'medium', 'high'),
  labels: fc.array(text(100), { maxLength: 20 }),
  codehostIssueNumber: fc.option(fc.integer({ min: 1, max: 2_147_483_647 })),
  codehostPrNumber: fc.constant(null),
}) as unknown as fc.Arbitrary<TaskBrief>

const brief = (values: Partial<TaskBrief>) =>
  ({
    ...fc.sample(task, { numRuns: 1, seed: 1 })[0],
    labels: [],
    codehostIssueNumber: null,
    ...values,
  }) as TaskBrief

describe('lines of tasks', () => {
  test('of a page of 20 fit 3,600 characters, whatever the tasks', () => {
    fc.assert(
      fc.property(fc.array(task, { minLength: 20, maxLength: 20 }), text(100), (tasks, list) => {
        const lines = taskLines(tasks, new Map([[LIST, list]]))
        expect(lines.map(({ id }) => id)).toEqual(tasks.map(({ id }) => id))
        expect(inertJson(lines).length).toBeLessThanOrEqual(3_601)
        expect(lines.map((line) => `${inertJson(line)}\n`).join('').length).toBeLessThanOrEqual(3_600)
        for (const [index, { title }] of lines.entries()) {
          const whole = tasks[index]?.title ?? ''
          const isCut = title.length > 2 && whole.startsWith(title.replace(/…$/, ''))
          expect(title === whole || isCut).toBe(true)
        }
      }),
    )
  })

  test('have whole texts if there is room', () => {
    const title = 'x'.repeat(120)
    const labels = ['crash', 'ios']
    const line = { ...brief({ title, labels }), codehostIssueNumber: 12, isReady: true }

    const [shown] = taskLines([line, line, line], new Map([[LIST, 'Inbox']]))

    const { id, status, priority } = line
    expect(shown).toEqual({ id, number: 12, title, status, priority, isReady: true, labels, list: 'Inbox' })
  })

  test('leave out what does not say anything: no labels, no number, not ready, and a list without a name', () => {
    const { id, title, status, priority } = brief({})
    expect(taskLines([brief({})], new Map())).toEqual([{ id, title, status, priority }])
  })

  test('mark what is cut', () => {
    const labels = Array.from({ length: 20 }, (_, n) => `label ${n} ${'y'.repeat(20)}`)
    const tasks = Array.from({ length: 20 }, () => brief({ title: 'x'.repeat(500), labels }))

    const [shown] = taskLines(tasks, new Map([[LIST, 'A list with a long name']]))

    expect(shown?.title).toMatch(/^x+…$/)
    expect(shown?.labels?.at(-1)).toBe('…')
    expect(shown?.list).toMatch(/^A list.*…$/)
  })

  test('of the longest page are cut quickly, whatever has to be escaped', () => {
    const labels = Array.from({ length: 20 }, (_, n) => `${n} ${'`'.repeat(97)}`)
    const tasks = Array.from({ length: 200 }, () => brief({ title: '<🔥>'.repeat(166), labels }))
    const start = process.cpuUsage()

    taskLines(tasks, new Map([[LIST, '~'.repeat(100)]]))

    // Measured: 40 ms.
    expect(process.cpuUsage(start).user / 1_000).toBeLessThan(500)
  })

  test('are JSON that cannot end a fence', () => {
    const lines = taskLines([brief({ title: '``` end' })], new Map([[LIST, '~~~']]))
    expect(fenced(lines).match(/```/g)).toHaveLength(2)
  })
})
