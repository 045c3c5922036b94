import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterEach, expect, test } from 'vitest'
import { startEmbedded } from '../../src/db/embedded/index.ts'
import { startDatabase, stopDatabase } from '../support/database-control.ts'
import { SETTINGS } from '../support/embedded-process.ts'
import { ADMIN_KEY, cleanUp, newDataDir } from '../support/inlet-process.ts'
import { startInstancesUnderLoad } from '../support/instances-under-load.ts'
import { SENDING_ENV, startReceiver, verify } from '../support/webhooks.ts'

/** An outage of the receiver and of PostgreSQL, and a kill of each instance. */
const FAULTS = 4
/** Deliveries that one sender may have sent without having stored the response. */
const MAX_UNSTORED = 100

afterEach(cleanUp)

test(`each acknowledged change is delivered in order through ${FAULTS} kills and outages, and few are repeated`, {
  timeout: 300_000,
}, async () => {
  const dataDir = await newDataDir()
  const log = { info: () => undefined, warn: () => undefined }
  const { connectionString } = await startEmbedded({ dataDir, log, settings: SETTINGS })
  const service = await startInstancesUnderLoad({
    ...{ database: connectionString, instances: 2, clients: 4 },
    env: SENDING_ENV,
  })
  const { instances } = service
  const receiver = await startReceiver()
  const created = await fetch(`${instances.urls()[0]}/api/webhooks`, {
    method: 'POST',
    headers: { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'A receiver', url: receiver.url }),
  })
  expect(created.status).toBe(201)
  const { id, secret } = (await created.json()) as { id: string; secret: string }
  const begin = await query('select position from webhooks where id = $1', [id])

  const recoveries = await service.repeat(FAULTS, async (nth) => {
    if (nth % FAULTS === 0) {
      receiver.respondWith(503)
      await sleep(300)
      receiver.respondWith(200)
      return undefined
    }
    if (nth % FAULTS === 1) {
      await stopDatabase(dataDir, 'immediate')
      await sleep(500)
      await startDatabase(dataDir)
      return undefined
    }
    const killed = nth % 2
    const ended = instances.end(killed, 'SIGKILL')
    return async () => {
      await ended
      await instances.start(killed)
    }
  })
  await service.load.stop()

  const waiting = () =>
    query(
      `select count(*)::int as count from changes where position > $2 and activity_id not in (
         select activity_id from webhook_deliveries where webhook_id = $1 and outcome = 'delivered')`,
      [id, begin[0].position],
    )
  await expect.poll(waiting, { timeout: 90_000, interval: 500 }).toEqual([{ count: 0 }])

  const changes = await query(
    `select activity.id, task_id from changes join activity on activity.id = activity_id
     where position > $1 order by position`,
    [begin[0].position],
  )
  for (const each of receiver.received) verify(each, secret)
  const firsts = new Map(receiver.received.toReversed().map((each) => [each.body.data.id, each.at]))
  expect(changes.filter((change) => !firsts.has(change.id))).toEqual([])
  const orderOf = (rows: { id: string; task_id: string | null }[]) =>
    Object.groupBy(
      rows.filter(({ task_id }) => task_id !== null),
      ({ task_id }) => task_id ?? '',
    )
  const known = new Set(changes.map(({ id }) => id))
  const arrived = [...new Map(receiver.received.map(({ body }) => [body.data.id, body.data.taskId]))]
    .map(([id, task_id]) => ({ id, task_id }))
    // The position had advanced before it was read.
    .filter(({ id }) => known.has(id))
  expect(orderOf(arrived)).toEqual(orderOf(changes))
  const accepted = await query(
    `select sum(attempts)::int as attempts, count(*)::int as count from webhook_deliveries where webhook_id = $1`,
    [id],
  )
  const repeated = receiver.received.length - accepted[0].attempts
  expect(repeated).toBeLessThanOrEqual(FAULTS * MAX_UNSTORED)

  await service.expectNothingLost({
    fault: 'outgoing webhook: kill -9, database and receiver outages',
    recoveries,
    maxRecoveryMs: 20_000,
    connectionString,
  })
  await receiver.close()

  async function query(text: string, values: unknown[]) {
    const client = new pg.Client({ connectionString })
    await client.connect()
    try {
      return (await client.query(text, values)).rows
    } finally {
      await client.end()
    }
  }
})
