import { describe, expect, test } from 'vitest'
import { type CodehostItem, itemOf, itemsOf } from '../../../src/domain/codehost/item.ts'
import { hashOf, importItem, type SyncedTask, updateFromItem } from '../../../src/domain/codehost/task.ts'

const now = new Date('2026-01-02T00:00:00Z')
const raw = {
  number: 1,
  title: 'T',
  body: 'B',
  state: 'open',
  labels: ['a'],
  user: { login: 'ada', html_url: 'https://codehost.example/ada' },
  created_at: '2019-06-01T00:00:00Z',
  updated_at: '2026-01-01T00:00:00Z',
}
const itemWith = (change: object = {}): CodehostItem => {
  const read = itemOf({ ...raw, ...change })
  if (!read) throw new Error('no entry')
  return read
}

function known(change: Partial<SyncedTask> = {}): SyncedTask {
  const destination = { listId: 'l', projectId: 'p', isTriageOn: true }
  const actor = { type: 'codehost' as const, id: null, name: 'x' }
  const { row } = importItem(itemWith(), {
    id: 't',
    now: new Date(0),
    destination,
    actor,
    repositoryId: 1,
    predatesConnection: true,
  })
  if (!row) throw new Error('no row')
  const { description, notes, metadata, ...rest } = row
  return { ...rest, descriptionHash: hashOf(description), ...change }
}

const closed = { state: 'closed', state_reason: 'completed', closed_at: '2025-12-31T00:00:00Z' }
const closedAt = new Date(closed.closed_at)
/** What earlier versions did not store. */
const EARLIER = { openedAt: new Date(0), authorName: null, authorUrl: null, hostUpdatedAt: null }
const isDone = { status: 'done' as const, completedAt: new Date(0) }

describe('an item that already has a task', () => {
  test.each<[string, Partial<SyncedTask>, object, string, object | undefined]>([
    ['is unchanged', {}, {}, 'unchanged', undefined],
    ['is updated by a title', {}, { title: 'N' }, 'updated', { title: 'N', status: 'open', version: 2 }],
    ['is updated by a body', {}, { body: 'N' }, 'updated', { description: 'N' }],
    ['is updated by a body that went', {}, { body: null }, 'updated', { description: null }],
    ['is updated by its labels', {}, { labels: [] }, 'updated', { labels: [] }],
    ['is closed', {}, closed, 'closed', { status: 'done', completedAt: closedAt, closedReason: 'completed' }],
    ['is closed at a time unknown', {}, { ...closed, closed_at: null }, 'closed', { completedAt: now }],
    ['is closed though done here', isDone, closed, 'closed', { status: 'done', completedAt: closedAt }],
    [
      'is closed at a time unknown though done here',
      isDone,
      { ...closed, closed_at: null },
      'closed',
      { status: 'done', completedAt: new Date(0) },
    ],
    [
      'is done again though open here',
      { codehostState: 'closed', closedReason: 'completed' },
      closed,
      'closed',
      { status: 'done' },
    ],
    [
      'changes its reason',
      { ...isDone, codehostState: 'closed', closedReason: 'completed' },
      { ...closed, state_reason: 'duplicate' },
      'updated',
      { closedReason: 'duplicate', status: 'done' },
    ],
    [
      'is reopened',
      { ...isDone, codehostState: 'closed', closedReason: 'completed' },
      {},
      'reopened',
      { status: 'open', completedAt: null, closedReason: null },
    ],
    [
      'is reopened while in progress here',
      { status: 'in_progress', codehostState: 'closed', closedReason: 'completed' },
      {},
      'reopened',
      { status: 'in_progress' },
    ],
    ['stays in progress', { status: 'in_progress' }, { title: 'N' }, 'updated', { status: 'in_progress' }],
    ['stays done', isDone, { title: 'N' }, 'updated', { status: 'done' }],
    [
      'is closed again after it was reopened',
      { ...isDone, codehostState: 'closed', closedReason: 'completed' },
      closed,
      'updated',
      { completedAt: closedAt, updatedAt: now, version: 2 },
    ],
    ['has a deleted author', {}, { user: null }, 'updated', { authorName: null, authorUrl: null }],
    ['has an author of another name', {}, { user: { login: 'eve' } }, 'updated', { authorName: 'eve' }],
    ['has no time of creation', {}, { created_at: null }, 'unchanged', undefined],
    [
      'is older than what is stored',
      { hostUpdatedAt: now },
      { ...closed, title: 'O' },
      'unchanged',
      undefined,
    ],
    [
      'was only commented on',
      {},
      { updated_at: '2026-01-01T00:00:07Z' },
      'unchanged',
      { hostUpdatedAt: new Date('2026-01-01T00:00:07Z'), version: 1, updatedAt: new Date(0) },
    ],
    [
      'was stored by an earlier version',
      { ...EARLIER, ...isDone, codehostState: 'closed', closedReason: 'completed' },
      closed,
      'unchanged',
      {
        openedAt: new Date('2019-06-01T00:00:00Z'),
        completedAt: closedAt,
        authorName: 'ada',
        version: 2,
        updatedAt: new Date(0),
      },
    ],
    [
      'was stored by an earlier version and has changed since',
      EARLIER,
      { title: 'N' },
      'updated',
      { authorName: 'ada', title: 'N', updatedAt: now },
    ],
    ['reappears', { sourceState: 'deleted' }, {}, 'updated', { sourceState: 'present' }],
    [
      'keeps list and priority',
      { listId: 'other', priority: 1 },
      { title: 'N', labels: ['priority:high'] },
      'updated',
      { listId: 'other', priority: 1 },
    ],
    [
      'is skipped when deleted here, and follows',
      { deletedAt: now },
      { title: 'N' },
      'skipped',
      { title: 'N' },
    ],
    ['is skipped when deleted here and the same', { deletedAt: now }, {}, 'skipped', undefined],
  ])('%s', (_, task, change, outcome, row) => {
    const decision = updateFromItem(known(task), { item: itemWith(change), now, isTriageOn: true })
    expect(decision.outcome).toBe(outcome)
    if (row) expect(decision.row).toMatchObject(row)
    else expect(decision.row).toBeUndefined()
  })

  test('puts what changed into the activity, texts only by name', () => {
    const decision = updateFromItem(known(), {
      item: itemWith({ ...closed, title: 'N', body: 'N', labels: ['b'] }),
      now,
      isTriageOn: true,
    })
    expect(decision.activities).toEqual([
      {
        type: 'task.updated',
        metadata: {
          changes: {
            title: { from: 'T', to: 'N' },
            description: 'changed',
            labels: { from: ['a'], to: ['b'] },
            closedReason: { from: null, to: 'completed' },
          },
        },
      },
      { type: 'task.completed', metadata: { from: 'open', completedAt: closedAt.toISOString() } },
    ])
  })

  test('logs that a draft is ready, but not that it was a draft before that was stored', () => {
    const pull = { pull_request: { merged_at: null } }
    const draft = { codehostKind: 'pull_request' as const, isDraft: true }
    const ready = updateFromItem(known(draft), {
      item: itemWith({ ...pull, draft: false }),
      now,
      isTriageOn: true,
    })
    expect(ready.activities).toEqual([
      { type: 'task.updated', metadata: { changes: { isDraft: { from: true, to: false } } } },
    ])
    const task = known({ ...draft, ...EARLIER, isDraft: null })
    const filledIn = updateFromItem(task, { item: itemWith({ ...pull, draft: true }), now, isTriageOn: true })
    expect(filledIn).toMatchObject({ row: { isDraft: true }, activities: [] })
  })

  test('logs nothing of an author, and nothing of what an earlier version did not store', () => {
    for (const task of [known({ authorName: 'old' }), known(EARLIER)]) {
      expect(updateFromItem(task, { item: itemWith(), now, isTriageOn: true })).toMatchObject({
        row: { authorName: 'ada', version: 2 },
        activities: [],
      })
    }
  })
})

describe('a response of the code host', () => {
  test.each<[string, unknown]>([
    ['null', null],
    ['text', 'x'],
    ['an object without a number', { title: 'x' }],
    ['a number of zero', { number: 0 }],
    ['a number that is no integer', { number: 1.5 }],
    ['a number as text', { number: '1' }],
    ['a number too large', { number: 2 ** 31 }],
  ])('%s is not an item', (_, value) => {
    expect(itemOf(value)).toBeUndefined()
    expect(itemsOf([raw, value])).toBeUndefined()
  })

  test.each<[string, object, Partial<CodehostItem>]>([
    ['an address that is none', { html_url: 'javascript:alert(1)' }, { url: null }],
    ['one that is too long once escaped', { html_url: `https://example/${'é'.repeat(400)}` }, { url: null }],
    [
      'a pull request without merged_at',
      { ...closed, pull_request: {} },
      { kind: 'pull_request', closedReason: 'closed_unmerged' },
    ],
    ['a merged one', { state: 'closed', pull_request: { merged_at: 'x' } }, { closedReason: 'merged' }],
    ['pull_request: null', { pull_request: null }, { kind: 'issue' }],
    ['assignee without assignees', { assignee: { login: 'ada' } }, { assignees: ['ada'] }],
    ['the most urgent of priorities', { labels: ['priority:low', 'Priority: Critical'] }, { priority: 3 }],
    ['priorities nobody knows', { labels: ['priority:constructor', 'priority'] }, { priority: undefined }],
    ['a deleted account', { user: null }, { author: null }],
    ['a user without an address', { user: { login: 'ada' } }, { author: { name: 'ada', url: null } }],
    ['a draft', { pull_request: {}, draft: true }, { isDraft: true }],
    ['a pull request that says nothing of drafts', { pull_request: {} }, { isDraft: false }],
    ['an issue that says so', { draft: true }, { isDraft: null }],
    [
      'a time that is none',
      { created_at: '+012026-01-01T00:00:00Z', closed_at: 5 },
      { openedAt: null, closedAt: null },
    ],
    ['a closing time while it is open', { closed_at: '2026-01-01T00:00:00Z' }, { closedAt: null }],
    [
      'the time of a merge',
      { state: 'closed', pull_request: { merged_at: '2020-01-01T00:00:00Z' } },
      { closedAt: new Date('2020-01-01T00:00:00Z') },
    ],
    ['no time', { updated_at: 'soon' }, { updatedAt: null }],
    ['its repository', { repository_url: 'https://x/api/v3/repos/acme/app' }, { repository: 'acme/app' }],
  ])('%s is parsed', (_, change, expected) => {
    expect(itemWith(change)).toMatchObject(expected)
  })

  test('the later of two items with one number on a page counts', () => {
    expect(itemsOf([raw, { ...raw, title: 'Later' }])?.map(({ title }) => title)).toEqual(['Later'])
  })
})
