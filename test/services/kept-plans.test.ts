import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TestApp } from '../support/app.ts'
import { feedback, startReceiver } from '../support/feedback.ts'

let service: TestApp
let send: (event: object) => Promise<unknown>
beforeAll(async () => {
  ;({ service, send } = await startReceiver())
})
afterAll(() => service.close())

/** PostgreSQL plans a statement for five values before it compares these plans with one for all values. */
const EXECUTIONS = 8

/** How often PostgreSQL used a plan for all values; one after another, all requests use the same connection. */
async function keptPlansOf(name: string): Promise<number> {
  const [row] = await service.query(
    'select generic_plans as kept from pg_prepared_statements where name = $1',
    [name],
  )
  return Number(row?.kept)
}

const create = () => service.post('/api/tasks', { title: 'Crash' })

test.each<[string, () => Promise<unknown>, string[]]>([
  ['a create', create, ['insert new tasks without external ids']],
  [
    'a create with an external ID',
    () => service.post('/api/tasks', { title: 'Crash', externalId: crypto.randomUUID() }),
    ['insert new tasks'],
  ],
  [
    'a create with an idempotency key',
    () =>
      service.post('/api/tasks', { title: 'Crash' }, { headers: { 'idempotency-key': crypto.randomUUID() } }),
    ['insert new tasks with keys'],
  ],
  [
    'a change',
    async () => service.patch(`/api/tasks/${(await create()).body.id}`, { status: 'in_progress' }),
    ['find tasks with projects', 'update decided tasks'],
  ],
  ['feedback', () => send(feedback()), ['routing table', 'accept feedback']],
])('%s keeps the plans of its statements', async (_, write, names) => {
  for (let count = 0; count < EXECUTIONS; count++) await write()
  for (const name of names) expect(await keptPlansOf(name), name).toBeGreaterThan(0)
})
