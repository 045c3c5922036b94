import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TestApp } from '../support/app.ts'
import { times } from '../support/concurrent.ts'
import { startTwoInstances, type TwoInstances } from '../support/two-instances.ts'

/* Activities that are posted at the same time share statements, with idempotency keys and without. */

let instances: TwoInstances
let service: TestApp
let second: TestApp
beforeAll(async () => {
  instances = await startTwoInstances()
  ;({ service, second } = instances)
})
afterAll(() => instances.close())

let counter = 0
const newKey = () => `activity-${++counter}`
const isReplay = ({ headers }: { headers: Headers }) => headers.get('idempotency-replayed') === 'true'
const statusOrCode = ({ status, body }: { status: number; body: { code?: string } }) => body.code ?? status

const MISSING = '01890000-0000-7000-8000-000000000000'

describe('concurrent activities', () => {
  test('each get the project of their task, their own, or that of their key', async () => {
    const [mine, other] = [await service.given.project(), await service.given.project()]
    const task = await service.given.task(mine.inbox)
    const bound = await service.given.key({ projectId: mine.id })
    const kinds = [
      { about: {}, projectId: null },
      { about: { projectId: other.id }, projectId: other.id },
      { about: { taskId: task.id }, projectId: mine.id },
      { about: { taskId: task.id, projectId: mine.id }, projectId: mine.id },
      { about: {}, key: bound, projectId: mine.id },
      { about: { taskId: task.id }, key: bound, projectId: mine.id },
    ]
    const transactionsOfBurst = async (headers: () => Record<string, string>): Promise<number> => {
      const responses = await times(60, (n) => {
        const { about, key = service.adminKey } = kinds[n % 6] ?? {}
        const body = { type: 'deploy.finished', message: `"${n}" {é}`, metadata: { n }, ...about }
        return service.post('/api/activity', body, { key, headers: headers() })
      })
      for (const [n, { status, body }] of responses.entries()) {
        expect([status, body.projectId, body.metadata]).toEqual([201, kinds[n % 6]?.projectId, { n }])
        expect((await service.get(`/api/activity/${body.id}`)).body).toEqual(body)
      }
      const [{ count }] = await service.query(
        'select count(distinct transaction)::int as count from activity where id = any($1)',
        [responses.map(({ body }) => body.id)],
      )
      return count
    }
    for (const headers of [() => ({}), () => ({ 'idempotency-key': newKey() })]) {
      // Alone, each would have a transaction of its own. On a busy machine a whole burst may be alone: a statement that
      // waits for a lock gives up, and its requests continue one by one.
      await expect.poll(() => transactionsOfBurst(headers)).toBeLessThan(60)
    }
  })

  test('fail each for itself, and may then be mended', async () => {
    const [mine, other] = [await service.given.project(), await service.given.project()]
    const archived = await service.given.project({ archivedAt: new Date() })
    const task = await service.given.task(mine.inbox)
    const foreign = await service.given.task(other.inbox)
    const bound = await service.given.key({ projectId: mine.id })
    const kinds = [
      { about: { taskId: task.id }, expected: 201 },
      { about: { taskId: MISSING }, expected: 'task_not_found' },
      { about: { projectId: archived.id }, expected: 'project_archived' },
      { about: { projectId: MISSING }, expected: 'project_not_found' },
      { about: { taskId: task.id, projectId: other.id }, expected: 'validation_failed' },
      { about: { taskId: foreign.id }, key: bound, expected: 'task_not_found' },
      { about: { projectId: other.id }, key: bound, expected: 'project_not_found' },
    ]
    const keys = kinds.map(newKey)
    for (const headersOf of [() => ({}), (n: number) => ({ 'idempotency-key': keys[n] ?? '' })]) {
      const responses = await Promise.all(
        kinds.map(({ about, key = service.adminKey }, n) =>
          service.post('/api/activity', { type: 'a', ...about }, { key, headers: headersOf(n) }),
        ),
      )
      expect(responses.map(statusOrCode)).toEqual(kinds.map(({ expected }) => expected))
    }
    const mended = await Promise.all(
      kinds
        .slice(1)
        .map(({ key = service.adminKey }, n) =>
          service.post(
            '/api/activity',
            { type: 'a' },
            { key, headers: { 'idempotency-key': keys[n + 1] ?? '' } },
          ),
        ),
    )
    expect(mended.map((response) => [response.status, isReplay(response)])).toEqual(
      Array(6).fill([201, false]),
    )
  })

  test('with one key are logged once', async () => {
    const key = newKey()
    const responses = await times(12, (n) =>
      (n % 2 ? second : service).post(
        '/api/activity',
        { type: 'once', message: key },
        {
          key: service.adminKey,
          headers: { 'idempotency-key': key },
        },
      ),
    )
    expect(responses.map(({ status }) => status)).toEqual(Array(12).fill(201))
    expect(responses.filter((response) => !isReplay(response))).toHaveLength(1)
    expect(await service.query('select from activity where message = $1', [key])).toHaveLength(1)
  })
})
