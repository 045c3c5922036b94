import fc from 'fast-check'
import { newTask, originIn } from '../../src/domain/new-task.ts'
import { LONG_FIELDS } from '../../src/domain/task-fields.ts'
import { without } from '../../src/lib/without.ts'
import type { Context, TaskBrief } from '../../src/schemas/context.ts'
import type { Rule } from '../../src/schemas/rule.ts'
import { toTask } from '../../src/services/tasks/view.ts'

const NOW = '2026-11-21T08:15:30.000Z'
const ACTOR = { type: 'key' as const, id: null, name: 'k' }

/** Texts with characters of up to four bytes, and with some that JSON or a fence escapes. */
const text = (maxLength: number) =>
  fc.string({ unit: fc.constantFrom('a', ' ', '\n', '"', '`', '<', '日', '\u0007', '🔥'), maxLength })

export const anyRule = fc
  .record({
    id: fc.uuid(),
    content: text(300),
    priority: fc.double({ noNaN: true }),
    paths: fc.array(fc.constantFrom('src/**/*.ts', 'docs/日/**'), { maxLength: 2 }),
  })
  .map(
    (rule): Rule => ({
      ...rule,
      isActive: true,
      projectId: null,
      version: 1,
      createdAt: NOW,
      updatedAt: NOW,
      updatedBy: ACTOR,
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
  .map(({ id, projectId, ...content }): TaskBrief => {
    const row = newTask(content, {
      id,
      now: new Date(NOW),
      destination: { listId: id, projectId, isTriageOn: true },
      actor: ACTOR,
      origin: originIn('api'),
    })
    return without(toTask(row, { isBlocked: false }), LONG_FIELDS)
  })

export const anyContext = fc
  .record({
    instructions: fc.array(anyRule, { maxLength: 40 }),
    lists: fc.array(list, { maxLength: 15 }),
    recent: fc.array(task, { maxLength: 10 }),
    project: fc.option(fc.record({ id: fc.uuid(), name: text(100), archivedAt: fc.constantFrom(null, NOW) })),
  })
  .map(
    ({ recent, lists, ...rest }): Context => ({
      ...rest,
      lists,
      // The name of the list is one of what a line has beside the task.
      tasks: {
        open: 1,
        inProgress: 2,
        recent: recent.map((task, n) => ({ ...task, listId: lists[n % lists.length]?.id ?? task.listId })),
      },
      notice: 'n',
      serverTime: NOW,
      omitted: [],
      omittedCount: 0,
    }),
  )
