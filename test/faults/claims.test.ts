import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterEach, expect, test, vi } from 'vitest'
import { type Callers, startCallers } from '../support/claim-callers.ts'
import { type ClaimEvent, contradictionsIn } from '../support/claim-history.ts'
import { cleanUp } from '../support/inlet-process.ts'
import { startInstances } from '../support/instances.ts'
import { freshDatabase } from '../support/postgres.ts'
import { sendJson } from '../support/send-json.ts'

const CALLERS = 64
const CLAIMS = 10_000
const TASKS = 100
const KILLS = 5

afterEach(cleanUp)

test(`${CALLERS} callers on two instances that are killed make ${CLAIMS} claims, of each task one at a time`, {
  timeout: 300_000,
}, async () => {
  const { connectionString, drop } = await freshDatabase()
  const instances = await startInstances(2, connectionString)
  const client = new pg.Client({ connectionString })
  await client.connect()
  const { rows: lists } = await client.query('select id from lists limit 1')
  const tasks = Array.from({ length: TASKS }, (_, n) => ({ title: `Task ${n}` }))
  const [url] = instances.urls()
  await sendJson(`${url}/api/tasks/bulk`, { method: 'POST', body: { listId: lists[0].id, tasks } })

  const callers = startCallers({ targets: instances.urls, callers: CALLERS, claims: CLAIMS })
  const expiries = endLeases(client, callers)
  for (let kill = 1; kill <= KILLS; kill++) {
    // An unexpected response ends a caller.
    await Promise.race([
      callers.ended,
      vi.waitUntil(() => callers.claimed() > (CLAIMS * kill) / (KILLS + 1), {
        timeout: 120_000,
        interval: 20,
      }),
    ])
    await instances.end(kill % 2, 'SIGKILL')
    await instances.start(kill % 2)
  }
  await callers.ended
  const events = [...callers.events, ...(await expiries)]

  expect(callers.tally.unexpected).toEqual([])
  expect(callers.claimed()).toBeGreaterThanOrEqual(CLAIMS)
  expect(contradictionsIn(events)).toEqual([])
  const recorded = events.filter(({ kind }) => kind === 'claim').map(nameOf)
  const { rows: logged } = await client.query(
    `select task_id as "taskId", (metadata ->> 'number')::integer as number from activity where type = 'task.claimed'`,
  )
  const made = new Set(logged.map(nameOf))
  expect(made.size).toBe(logged.length)
  expect(recorded.filter((claim) => !made.has(claim))).toEqual([])
  // A claim whose response was lost is made again under another number, unless its request had a key.
  expect(made.size - recorded.length).toBeLessThanOrEqual(callers.lostResponses())
  await instances.endAll()
  await client.end()
  await drop()
})

const nameOf = ({ taskId, number }: Pick<ClaimEvent, 'taskId' | 'number'>) => `${taskId} ${number}`

/** Ends the lease of one in ten claims, by the clock of the database. */
async function endLeases(client: pg.Client, { claimed, ended }: Callers): Promise<ClaimEvent[]> {
  const events: ClaimEvent[] = []
  let isEnded = false
  const end = () => {
    isEnded = true
  }
  ended.then(end, end)
  while (!isEnded) {
    await sleep(10)
    if (events.length > claimed() / 10) continue
    const sentAt = performance.now()
    const { rows } = await client.query(`
      update tasks set claim_expires_at = clock_timestamp() - interval '1 millisecond'
      where id = (select id from tasks where claim_expires_at > clock_timestamp() order by random() limit 1)
        and claim_expires_at > clock_timestamp()
      returning id, claim_number`)
    for (const { id, claim_number } of rows)
      events.push({ kind: 'expiry', taskId: id, number: claim_number, sentAt, returnedAt: performance.now() })
  }
  return events
}
