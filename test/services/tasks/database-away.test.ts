import { once } from 'node:events'
import { createServer } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openDatabase } from '../../../src/db/pool.ts'
import { AppError } from '../../../src/errors/index.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { repositories } from '../../../src/repositories/index.ts'
import { singleUpdateOf } from '../../../src/services/tasks/single-update.ts'
import { callerWith } from '../../support/caller.ts'
import { UNKNOWN_ID } from '../../support/patterns.ts'

/** A server that ends each connection at once, as while PostgreSQL is stopped behind a proxy. */
const server = createServer((socket) => {
  attempts++
  socket.destroy()
})
let attempts = 0
let db: ReturnType<typeof openDatabase>
beforeAll(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  db = openDatabase({
    connectionString: `postgres://inlet@127.0.0.1:${port}/inlet`,
    size: 10,
    onError: () => {},
  })
})
afterAll(async () => {
  await db.$client.end()
  server.close()
})

const caller = callerWith()

test('changes that wait for the same batch fail with it, and are not tried one by one', async () => {
  const update = singleUpdateOf({ repos: repositories(db), clock: systemClock() })
  const outcomes = await Promise.allSettled(
    Array.from({ length: 40 }, () =>
      update({ caller, id: UNKNOWN_ID, change: { title: 'New' }, allowed: undefined }),
    ),
  )
  const errors = outcomes.map((outcome) => (outcome.status === 'rejected' ? outcome.reason : undefined))
  expect(errors.map((error) => error instanceof AppError && error.code)).toEqual(
    Array(40).fill('unavailable'),
  )
  expect(attempts).toBeLessThan(10)
})
