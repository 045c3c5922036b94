import { describe, expect, test } from 'vitest'
import { Problem } from '../../../../src/dashboard/api/problem.ts'
import type { Batch, Change, Task } from '../../../../src/dashboard/tasks/edits/bulk.ts'
import {
  type Edit,
  editsOf,
  keptText,
  retryable,
  reverseOf,
  type UndoIo,
  undoEdits,
  undoFailureText,
} from '../../../../src/dashboard/tasks/edits/undo-edits.ts'

describe('the edits of a change', () => {
  test('contain the changed fields of the response', () => {
    const before = new Map([['a', { title: 'old', labels: ['x'] }]])
    const after = task({ id: 'a', title: 'new', labels: ['x'] })
    expect(editsOf({ before, done: [after], fields: ['title', 'labels'] })).toEqual([
      {
        ...edit('a'),
        title: 'new',
        before: { title: 'old' },
        after: { title: 'new' },
        decisions: { labels: ['x'] },
      },
    ])
  })

  test('leave out rows that had the value already', () => {
    const before = new Map([['a', { priority: 'high' as const }]])
    expect(editsOf({ before, done: [task({ id: 'a', priority: 'high' })], fields: ['priority'] })).toEqual([])
  })
})

describe('reversing an edit', () => {
  test('restores the previous value', () => {
    const changed = edit('a', { before: { notes: null }, after: { notes: 'written' } })
    expect(reverseOf(changed, { notes: 'written' })).toEqual({ notes: null })
  })

  test('is impossible when someone changed the same field since', () => {
    const changed = edit('a', { before: { title: 'old' }, after: { title: 'new' } })
    expect(reverseOf(changed, { title: 'theirs' })).toBeUndefined()
  })

  test('keeps a task triaged that someone has decided about since', () => {
    const decisions = { status: 'open', priority: 'medium' } as const
    const accepted = edit('a', { before: { triaged: false }, after: { triaged: true }, decisions })
    expect(reverseOf(accepted, { triaged: true, ...decisions })).toEqual({ triaged: false })
    expect(reverseOf(accepted, { triaged: true, ...decisions, priority: 'high' })).toBeUndefined()
    expect(reverseOf(accepted, { triaged: true, ...decisions, isCommentedOn: true })).toBeUndefined()
    const done = edit('a', {
      before: { triaged: false, status: 'open' },
      after: { triaged: true, status: 'done' },
      decisions: { ...decisions, status: 'done' },
    })
    expect(reverseOf(done, { triaged: true, status: 'done', priority: 'high' })).toEqual({ status: 'open' })
  })

  test('changes nothing when the previous value is there already', () => {
    expect(
      reverseOf(edit('a', { before: { status: 'open' }, after: { status: 'done' } }), { status: 'open' }),
    ).toEqual({})
  })

  const open = { status: 'open', closedReason: null } as const
  const resumed = { status: 'in_progress', closedReason: null } as const
  const completed = { status: 'done', closedReason: 'completed' } as const
  const notPlanned = { status: 'done', closedReason: 'not_planned' } as const
  test.for<[string, Edit['before'], Edit['after'], Change]>([
    ['opens a task that was closed as not planned', open, notPlanned, { status: 'open' }],
    ['resumes one that was in progress', resumed, notPlanned, { status: 'in_progress' }],
    ['closes one as not planned that was opened', notPlanned, open, notPlanned],
    ['completes one that was opened, without a reason', completed, open, { status: 'done' }],
    ['restores the reason', { closedReason: 'not_planned' }, { closedReason: 'completed' }, notPlanned],
    ['takes no reason for completed', { closedReason: null }, { closedReason: 'not_planned' }, completed],
  ])('%s', ([, before, after, change]) => {
    expect(reverseOf(edit('a', { before, after }), after)).toEqual(change)
  })

  test('keeps labels and assignees that others added or removed', () => {
    const changed = edit('a', {
      before: { labels: ['kept', 'removed'] },
      after: { labels: ['kept', 'added'] },
    })
    expect(reverseOf(changed, { labels: ['kept', 'added', 'theirs'] })).toEqual({
      labels: ['kept', 'theirs', 'removed'],
    })
    expect(reverseOf(changed, { labels: ['added'] })).toEqual({ labels: ['removed'] })
  })
})

describe('undoing', () => {
  test('one task checks its version and retries with the current one', async () => {
    const io = service({ a: { notes: 'mine', priority: 'high', version: 7 } })
    const result = await undoEdits(
      [edit('a', { before: { notes: null }, after: { notes: 'mine' }, version: 5 })],
      io,
    )
    expect(io.writes).toEqual([['a', { notes: null }, 7]])
    expect(undoFailureText(1, result)).toBeUndefined()
  })

  test('one task that someone changed since changes nothing and reports it', async () => {
    const io = service({ a: { notes: 'theirs', version: 7 } })
    const result = await undoEdits(
      [edit('a', { before: { notes: null }, after: { notes: 'mine' }, version: 5 })],
      io,
    )
    expect(io.writes).toEqual([])
    expect(undoFailureText(1, result)).toBe('Someone else has changed the notes since.')
    expect(retryable(result)).toEqual([])
  })

  test('one deleted task reports it', async () => {
    const result = await undoEdits(
      [edit('a', { before: { status: 'open' }, after: { status: 'done' } })],
      service({}),
    )
    expect(undoFailureText(1, result)).toContain('Deleted')
    expect(retryable(result)).toEqual([])
  })

  const done = {
    before: { triaged: false, status: 'open' },
    after: { triaged: true, status: 'done' },
    decisions: { status: 'done' },
  } as const

  test('one task says that it stays triaged when it has a comment since, which leaves its version', async () => {
    const io = service({ a: { triaged: true, status: 'done', version: 2 } })
    io.commented = ['a']
    const result = await undoEdits([edit('a', done)], io)
    expect(io.writes).toEqual([['a', { status: 'open' }, 2]])
    expect(undoFailureText(1, result)).toBeUndefined()
    expect(keptText(1, result)).toBe('It stays out of Triage, because it was changed or commented on since.')
    const untouched = await undoEdits([edit('a', done)], service({ a: { ...done.after, version: 2 } }))
    expect(keptText(1, untouched)).toBeUndefined()
    expect(untouched.undone).toMatchObject([{ triaged: false, status: 'open' }])
  })

  test('several tasks names those that stay triaged, apart from what failed', async () => {
    const edits = ['a', 'b', 'c'].map((id) => edit(id, done))
    const io = service({
      a: { ...done.after, priority: 'high' },
      b: done.after,
      c: done.after,
    })
    io.commented = ['c']
    io.unreachable = 'c'
    const result = await undoEdits(edits, io)
    expect(io.batches.map(({ change }) => change)).toEqual([
      { status: 'open' },
      { status: 'open', triaged: false },
    ])
    expect(keptText(3, result)).toBe(
      'Not back in Triage, because they were changed or commented on since: “Task a”.',
    )
  })

  test('tasks leaves out of Triage what has a comment since, and does not count comments', async () => {
    const accepted = { before: { triaged: false }, after: { triaged: true } }
    const edits = Array.from({ length: 14 }, (_, index) => edit(`${index}`, accepted))
    const io = service(
      Object.fromEntries(edits.map(({ id }) => [id, { ...accepted.after, commentCount: Number(id) % 3 }])),
    )
    io.commented = ['3']
    const result = await undoEdits(edits, io)
    expect(result.changed.map(({ id }) => id)).toEqual(['3'])
    expect(result.undone).toHaveLength(13)
  })

  test('several tasks restores each value with one request per value and 100 tasks', async () => {
    const edits = [
      ...many({ from: 0, to: 150, before: { priority: 'low' } }),
      ...many({ from: 150, to: 200, before: { priority: 'medium' } }),
    ]
    const io = service(Object.fromEntries(edits.map(({ id }) => [id, { priority: 'high', version: 2 }])))
    const result = await undoEdits(edits, io)
    expect(io.batches.map(({ change, items }) => [change, items.length])).toEqual([
      [{ priority: 'low' }, 100],
      [{ priority: 'low' }, 50],
      [{ priority: 'medium' }, 50],
    ])
    expect([result.undone.length, undoFailureText(200, result)]).toEqual([200, undefined])
  })

  test('several tasks reports changed, deleted and retryable ones', async () => {
    const edits = many({ from: 0, to: 4, before: { priority: 'low' } })
    const io = service({
      0: { priority: 'high', version: 2 },
      1: { priority: 'medium', version: 3 },
      3: { priority: 'high', version: 2 },
    })
    io.unreachable = '3'
    const result = await undoEdits(edits, io)
    expect(result.undone.map(({ id }) => id)).toEqual(['0'])
    const words = undoFailureText(4, result)
    expect(words).toContain('1 of 4 tasks undone. Changed by someone else since: “Task 1”.')
    expect(words).toContain('(“Task 2”)')
    expect(words).toContain('(“Task 3”)')
    expect(retryable(result).map(({ id }) => id)).toEqual(['3'])
  })

  test('several tasks whose state cannot be loaded changes nothing and can be retried', async () => {
    const edits = many({ from: 0, to: 3, before: { status: 'open' } })
    const io: UndoIo = {
      ...service({}),
      readChanged: () => Promise.reject(new Problem(0, { detail: "Couldn't reach Inlet." })),
    }
    const result = await undoEdits(edits, io)
    expect([result.undone, retryable(result).length]).toEqual([[], 3])
  })
})

const AT = '2026-11-22T03:00:00.000Z'

const task = (fields: Partial<Task>) =>
  ({ title: `Task ${fields.id}`, version: 2, updatedAt: AT, ...fields }) as Task

interface GivenEdit {
  before?: Partial<Task>
  after?: Partial<Task>
  decisions?: Partial<Task>
  version?: number
}

const edit = (
  id: string,
  { before = {}, after = {}, decisions = {}, version = 2 }: GivenEdit = {},
): Edit => ({
  id,
  title: `Task ${id}`,
  version,
  updatedAt: AT,
  before,
  after,
  decisions,
})

const many = ({ from, to, before }: { from: number; to: number; before: Partial<Task> }) =>
  Array.from({ length: to - from }, (_, index) =>
    edit(String(from + index), {
      before,
      after: before.priority ? { priority: 'high' } : { status: 'done' },
    }),
  )

interface Seen {
  writes: [string, Change, number][]
  batches: Batch<Edit>[]
  /** Tasks that somebody else has commented on since. */
  commented: string[]
  /** A task that cannot be reached. */
  unreachable: string | undefined
}

/** A service that holds these tasks; one may be out of its reach. */
function service(tasks: Record<string, Partial<Task>>): UndoIo & Seen {
  const writes: Seen['writes'] = []
  const batches: Seen['batches'] = []
  const io: UndoIo & Seen = {
    writes,
    batches,
    commented: [],
    unreachable: undefined,
    readChanged: async () => new Map(Object.entries(tasks)),
    readCommented: async (ids) => new Set(ids.filter((id) => io.commented.includes(id))),
    async get(id: string) {
      const found = tasks[id]
      if (!found) throw new Problem(404, { code: 'task_not_found' })
      return task({ ...found, id })
    },
    async patch({ id, change, version }) {
      const found = await io.get(id)
      if (found.version !== version) throw new Problem(412, { code: 'version_mismatch' })
      writes.push([id, change, version])
      return { ...found, ...change } as Task
    },
    async sendBatches(some: Batch<Edit>[]) {
      batches.push(...some)
      const items = some.flatMap(({ items }) => items)
      return {
        done: items
          .filter(({ id }) => tasks[id] && id !== io.unreachable)
          .map(({ id }) => task({ ...tasks[id], id })),
        failures: items.flatMap((item) => {
          if (item.id === io.unreachable) return { item, problem: new Problem(0, { detail: 'Lost.' }) }
          return tasks[item.id] ? [] : { item, problem: new Problem(404, { code: 'task_not_found' }) }
        }),
      }
    },
  }
  return io
}
