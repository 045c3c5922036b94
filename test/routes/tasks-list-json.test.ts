import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { TaskSort } from '../../src/schemas/task-query.ts'
import { startApp, type TestApp } from '../support/app.ts'

/* PostgreSQL makes the JSON of tasks that are read; a write makes it of its row. Both must be the same. */

let service: TestApp
beforeAll(async () => {
  service = await startApp()
})
afterAll(() => service.close())

const ODD = '"quotes" \\ / \b\f\n\r\t \u0001 \u007f \u2028 ü 漢 😀 </script> {} [] \' $1 %'
const AT = new Date('2026-01-02T03:04:05.000Z')
const KINDS = {
  'the least': {},
  'texts with all kinds of characters': {
    title: ODD,
    description: ODD,
    notes: ODD,
    externalId: ODD,
    externalUrl: 'https://example.org/?a="b"&c=\\',
    labels: [ODD, 'NULL', '{}', 'a,b', ''],
    assignees: ['null', ODD],
    createdByName: ODD,
    metadata: { [ODD]: [ODD, 1.5e300, -0.1, 1e-7, true, null, { a: [] }], n: 1234567890123 },
  },
  'a task of a source': { source: 'webhook', sourceId: '0198f3a2-6f4e-7cc0-a1b2-3c4d5e6f7081' },
  'an issue of a deleted account': {
    source: 'codehost',
    codehostKind: 'issue',
    codehostNumber: 7,
    codehostRepositoryId: 1,
    authorName: 'ghost',
    openedAt: new Date('2008-02-29T00:00:00.000Z'),
  },
  'feedback of the year 1': {
    source: 'analytics',
    noteKey: ODD,
    openedAt: new Date('0001-01-01T00:00:00.000Z'),
  },
  'a draft pull request': {
    source: 'codehost',
    codehostKind: 'pull_request',
    codehostNumber: 9,
    codehostRepositoryId: 1,
    authorName: ODD,
    authorUrl: 'https://codehost.example/ada?a="b"',
    isDraft: true,
  },
  'a merged pull request': {
    source: 'codehost',
    codehostKind: 'pull_request',
    codehostNumber: 8,
    codehostRepositoryId: 1,
    codehostState: 'closed',
    closedReason: 'merged',
    status: 'done',
    completedAt: AT,
    isDraft: false,
    sourceState: 'transferred',
    commentCount: 12,
    writeBack: { state: 'failed', error: { code: 'codehost_rejected', message: ODD } },
  },
  'a report of another task': {
    status: 'done',
    completedAt: AT,
    mergedInto: '019aa3d2-6f4e-7cc0-a1b2-3c4d5e6f7081',
    statusBeforeMerge: 'in_progress',
    closedReason: 'completed',
  },
  'a task that waits for one that is gone': { blockedBy: ['019aa3d2-6f4e-7cc0-a1b2-3c4d5e6f7081'] },
  'a task with reports': { reportCount: 41 },
  'a claimed task': {
    status: 'in_progress',
    claimNumber: 2_147_483_647,
    claimExpiresAt: new Date(Date.now() + 3_600_120),
    claimedByType: 'assistant',
    claimedById: '019aa3d2-6f4e-7cc0-a1b2-3c4d5e6f7081',
    claimedByName: ODD,
  },
  'a task whose lease is over': {
    status: 'in_progress',
    claimNumber: 1,
    claimExpiresAt: AT,
    claimedByType: 'key',
    claimedByName: 'worker',
  },
  'feedback without an actor id': { source: 'analytics', createdByType: 'analytics', priority: 1 },
  'times without milliseconds, and with some': {
    createdAt: AT,
    updatedAt: new Date('2026-12-31T23:59:59.120Z'),
    completedAt: new Date('1999-12-31T23:59:59.999Z'),
    status: 'done',
    priority: 3,
  },
} as const

describe('a task in a list is the same as alone', () => {
  test.each(Object.entries(KINDS))('%s', async (_, values) => {
    const { id, inbox } = await service.given.project()
    const task = await service.given.task(inbox, structuredClone(values) as never)
    const { body: alone, headers } = await service.get(`/api/tasks/${task.id}`)
    expect([headers.get('etag'), headers.get('content-type')]).toEqual([
      '"1"',
      'application/json; charset=utf-8',
    ])
    const { body: written } = await service.patch(`/api/tasks/${task.id}`, { notes: alone.notes })
    expect(written).toEqual(alone)
    const { description, notes, metadata, ...summary } = alone
    for (const place of [`projectId=${id}`, `listId=${inbox.id}`, `projectId=${id}&listId=${inbox.id}`]) {
      for (const sort of TaskSort) {
        const page = await service.get(`/api/tasks?${place}&sort=${sort}`)
        expect(page.body).toEqual({ data: [alone], nextCursor: null })
        expect(page.headers.get('content-type')).toBe('application/json; charset=utf-8')
        const brief = await service.get(`/api/tasks?${place}&sort=${sort}&fields=summary`)
        expect(brief.body).toEqual({ data: [summary], nextCursor: null })
      }
    }
    // Filtered by more than its place, the statement is planned for its values.
    const filtered = await service.get(`/api/tasks?projectId=${id}&status=${task.status}`)
    expect(filtered.body.data).toEqual([alone])
    // A task with reports can't be deleted.
    await service.query('update tasks set report_count = 0 where id = $1', [task.id])
    await service.delete(`/api/tasks/${task.id}`)
    const trash = await service.get(`/api/tasks?projectId=${id}&deleted=true`)
    expect(trash.body.data).toMatchObject([{ id: task.id, title: task.title }])
  })

  test('where there is none', async () => {
    const { id } = await service.given.project()
    const { body } = await service.get(`/api/tasks?projectId=${id}`)
    expect(body).toEqual({ data: [], nextCursor: null })
  })

  test.each([1, 2, 199, 200])('with a limit of %i, up to the last page', async (limit) => {
    const { id, inbox } = await service.given.project()
    await service.given.tasks(inbox, 401)
    const ids: string[] = []
    let cursor: string | null = ''
    for (let page = 0; cursor !== null && page < 5; page++) {
      const { body } = await service.get(
        `/api/tasks?projectId=${id}&sort=-updatedAt&limit=${limit}${cursor && `&cursor=${cursor}`}`,
      )
      expect(body.data).toHaveLength(Math.min(limit, 401 - ids.length))
      ids.push(...body.data.map((task: { id: string }) => task.id))
      cursor = body.nextCursor
      expect(cursor === null).toBe(ids.length === 401)
    }
    expect(new Set(ids).size).toBe(ids.length)
  })

  test('within the reach of a key', async () => {
    const [mine, other] = [await service.given.project(), await service.given.project()]
    const task = await service.given.task(mine.inbox)
    await service.given.task(other.inbox)
    const key = await service.given.key({ projectId: mine.id })
    for (const query of ['', `?projectId=${mine.id}`, `?listId=${mine.inbox.id}`, '?sort=-priority']) {
      const { body } = await service.get(`/api/tasks${query}`, { key })
      expect(body.data.map(({ id }: { id: string }) => id)).toEqual([task.id])
    }
    expect((await service.get(`/api/tasks?projectId=${other.id}`, { key })).status).toBe(404)
  })
})
