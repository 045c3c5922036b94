import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TestApp } from '../support/app.ts'
import { times } from '../support/concurrent.ts'
import { startTwoInstances, type TwoInstances } from '../support/two-instances.ts'

/* Concurrent creates share statements also where their requests have idempotency keys. */

let instances: TwoInstances
let service: TestApp
let second: TestApp
beforeAll(async () => {
  instances = await startTwoInstances()
  ;({ service, second } = instances)
})
afterAll(() => instances.close())

let counter = 0
const newKey = () => `shared-${++counter}`
const keyed = (key: string) => ({ key: service.adminKey, headers: { 'idempotency-key': key } })
const isReplay = ({ headers }: { headers: Headers }) => headers.get('idempotency-replayed') === 'true'
const statusOrCode = ({ status, body }: { status: number; body: { code?: string } }) => body.code ?? status

const MISSING = '01890000-0000-7000-8000-000000000000'

/** How many transactions wrote the activity of these tasks. */
async function transactionsOf(taskIds: string[]): Promise<number> {
  const [row] = await service.query(
    'select count(distinct transaction)::int as count from activity where task_id = any($1)',
    [taskIds],
  )
  return row.count
}

async function untilWaiting(): Promise<void> {
  const waiting = `select from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock' and pid <> pg_backend_pid()`
  while ((await service.query(waiting)).length === 0) await sleep(10)
}

describe('concurrent creates with idempotency keys', () => {
  test('share statements, and each response is replayed', async () => {
    const transactionsOfBurst = async () => {
      const { inbox } = await service.given.project()
      const requests = await times(60, async (n) => ({
        key: newKey(),
        body: { title: `K${n}`, listId: inbox.id },
      }))
      const send = ({ key, body }: (typeof requests)[number]) => service.post('/api/tasks', body, keyed(key))
      const created = await Promise.all(requests.map(send))
      const again = await Promise.all(
        requests.map(({ key, body }) => second.post('/api/tasks', body, keyed(key))),
      )

      expect(created.map(({ status }) => status)).toEqual(Array(60).fill(201))
      expect(created.some(isReplay)).toBe(false)
      expect(again.every(isReplay)).toBe(true)
      for (const [n, { status, body, headers }] of created.entries()) {
        expect([again[n]?.status, again[n]?.body]).toEqual([status, body])
        for (const name of ['location', 'etag', 'content-type']) {
          expect(again[n]?.headers.get(name)).toBe(headers.get(name))
        }
        expect((await service.get(`/api/tasks/${body.id}`)).body).toEqual(body)
      }
      return transactionsOf(created.map(({ body }) => body.id))
    }
    // Alone, each would have a transaction of its own. On a busy machine a whole burst may be alone: a statement that
    // waits for a lock gives up, and its requests continue one by one.
    await expect.poll(transactionsOfBurst).toBeLessThan(60)
  })

  test('mixed with others create one task for each key', async () => {
    const { inbox } = await service.given.project()
    const body = { title: 'Same', listId: inbox.id }
    const [first, other] = [newKey(), newKey()]
    const keys = [first, first, other, undefined]
    const responses = await times(40, (n) => {
      const key = keys[n % 4]
      return service.post('/api/tasks', body, key ? keyed(key) : {})
    })
    const idsOf = (key: string | undefined) =>
      new Set(responses.flatMap(({ body }, n) => (keys[n % 4] === key ? [body.id] : [])))

    expect(responses.map(({ status }) => status)).toEqual(Array(40).fill(201))
    expect([idsOf(first).size, idsOf(other).size, idsOf(undefined).size]).toEqual([1, 1, 10])
    expect(responses.filter((response) => !isReplay(response))).toHaveLength(12)
    expect(await service.query('select from tasks where list_id = $1', [inbox.id])).toHaveLength(12)
  })

  test('with one key and different bodies create one task', async () => {
    const { inbox } = await service.given.project()
    const key = newKey()
    const responses = await times(10, (n) =>
      service.post('/api/tasks', { title: `Body ${n}`, listId: inbox.id }, keyed(key)),
    )
    expect(responses.map(statusOrCode).toSorted()).toEqual([201, ...Array(9).fill('idempotency_key_reused')])
    expect(await service.query('select from tasks where list_id = $1', [inbox.id])).toHaveLength(1)
  })

  test('fail each for itself, and may then be mended', async () => {
    const open = await service.given.project()
    const archived = await service.given.project({ archivedAt: new Date() })
    const listIds = [open.inbox.id, archived.inbox.id, MISSING]
    const keys = await times(30, async () => newKey())
    const send = (n: number, listId = listIds[n % 3]) =>
      service.post('/api/tasks', { title: `T${n}`, listId }, keyed(keys[n] ?? ''))
    const responses = await times(30, (n) => send(n))
    const expected = [201, 'project_archived', 'list_not_found']
    expect(responses.map(statusOrCode)).toEqual(Array.from({ length: 30 }, (_, n) => expected[n % 3]))
    const mended = await times(30, (n) => send(n, open.inbox.id))
    expect(mended.map((response) => [response.status, isReplay(response)])).toEqual(
      Array.from({ length: 30 }, (_, n) => [201, n % 3 === 0]),
    )
  })

  test('are replayed after their list was deleted or their project archived', async () => {
    const { id, inbox } = await service.given.project()
    const list = await service.given.list(id)
    const create = (listId: string, key: string) =>
      service.post('/api/tasks', { title: 'A task', listId }, keyed(key))
    const [first, other] = [newKey(), newKey()]
    const created = [await create(list.id, first), await create(inbox.id, other)]
    await second.delete(`/api/lists/${list.id}?moveTo=${inbox.id}`, { key: service.adminKey })
    await second.post(`/api/projects/${id}/archive`, {}, { key: service.adminKey })

    const again = [await create(list.id, first), await create(inbox.id, other)]
    expect(again.map((response) => [response.body, isReplay(response)])).toEqual(
      created.map(({ body }) => [body, true]),
    )
    // With a new key they are refused, though this instance has seen both lists accept tasks.
    const refused = [await create(list.id, newKey()), await create(inbox.id, newKey())]
    expect(refused.map(statusOrCode)).toEqual(['list_not_found', 'project_archived'])
  })

  test('are not failed by one whose key is in use for long', async () => {
    const { inbox } = await service.given.project()
    const { body: me } = await service.get('/api/me')
    const key = newKey()
    const blocker = await service.connect()
    await blocker.query('begin')
    await blocker.query(
      "insert into idempotency_keys (caller_id, route, key, request_hash, created_at) values ($1, 'POST /api/tasks', $2, '', now())",
      [me.id, key],
    )
    const create = (key: string) =>
      service.post('/api/tasks', { title: 'A task', listId: inbox.id }, keyed(key))
    const waits = create(key)
    const others = await times(20, () => create(newKey()))
    expect(others.map(({ status }) => status)).toEqual(Array(20).fill(201))
    await blocker.query('rollback')
    blocker.release()
    expect((await waits).status).toBe(201)
  })
})

describe('a batch whose connection breaks', () => {
  test('fails for each of its requests, and leaves nothing behind', async () => {
    const { id, inbox } = await service.given.project()
    const blocker = await service.connect()
    await blocker.query('begin')
    await blocker.query('select from projects where id = $1 for update', [id])
    const keys = await times(10, async () => newKey())
    const create = (key?: string) =>
      service.post('/api/tasks', { title: 'A task', listId: inbox.id }, key ? keyed(key) : {})
    const unanswered = [...keys, ...Array(10).fill(undefined)].map(create)
    await untilWaiting()
    const cut = setInterval(() => void service.query(CUT), 20)
    const responses = await Promise.all(unanswered)
    clearInterval(cut)
    await blocker.query('rollback')
    blocker.release()

    expect(responses.map(statusOrCode)).toEqual(Array(20).fill('unavailable'))
    expect(await service.query('select from tasks where list_id = $1', [inbox.id])).toHaveLength(0)
    const retried = await Promise.all(keys.map(create))
    expect(retried.map((response) => [response.status, isReplay(response)])).toEqual(
      Array(10).fill([201, false]),
    )
  })
})

const CUT = `select pg_terminate_backend(pid) from pg_stat_activity
  where datname = current_database() and wait_event_type = 'Lock' and pid <> pg_backend_pid()`
