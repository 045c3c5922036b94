import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterEach, expect, test, vi } from 'vitest'
import { cleanUp } from '../support/inlet-process.ts'
import { startInstances } from '../support/instances.ts'
import { freshDatabase } from '../support/postgres.ts'
import { sendJson } from '../support/send-json.ts'

const SOURCES = 40
const KILLS = 4

afterEach(cleanUp)

test(`${SOURCES} sources whose deliveries are refused are each logged once by two instances, through ${KILLS} kills`, {
  timeout: 180_000,
}, async () => {
  const { connectionString, drop } = await freshDatabase()
  const instances = await startInstances(2, connectionString)
  const client = new pg.Client({ connectionString })
  await client.connect()
  const { rows: projects } = await client.query('select id from projects limit 1')
  const sources: { id: string; secret: string }[] = []
  for (let n = 0; n < SOURCES; n++) {
    const body = {
      name: `Source ${n}`,
      projectId: projects[0].id,
      verify: { scheme: 'bearer' },
      template: { title: 'x' },
    }
    const [url] = instances.urls()
    const created = await sendJson(`${url}/api/sources`, { method: 'POST', body })
    sources.push((await created.json()) as { id: string; secret: string })
  }

  /** Sends to one of both instances, whichever is up. */
  const send = async ({ id, secret }: { id: string; secret: string }, nth: number) => {
    const urls = instances.urls()
    const response = await fetch(`${urls[nth % urls.length]}/in/sources/${id}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: '{}',
    }).catch(() => undefined)
    return response?.status
  }
  let isEnded = false
  const sending = (async () => {
    for (let nth = 0; !isEnded; nth++) {
      await Promise.all(sources.map(({ id }) => send({ id, secret: 'another' }, nth)))
      await sleep(50)
    }
  })()
  for (let kill = 0; kill < KILLS; kill++) {
    await sleep(500 + 300 * kill)
    await instances.end(kill % 2, 'SIGKILL')
    await instances.start(kill % 2)
  }
  const logged = async () => {
    const { rows } = await client.query(
      `select metadata ->> 'id' as id, array_agg(type order by sequence) as types from activity where type like 'pipe.%' group by 1`,
    )
    return new Map(rows.map(({ id, types }) => [id, types.join(' ')]))
  }
  await vi.waitFor(async () => expect((await logged()).size).toBe(SOURCES), {
    timeout: 10_000,
    interval: 100,
  })
  await sleep(2_000)
  expect([...(await logged()).values()]).toEqual(Array(SOURCES).fill('pipe.failed'))
  isEnded = true
  await sending

  // Only what is sent last says that it works again.
  await vi.waitFor(
    async () => {
      const statuses = await Promise.all(sources.map((source, nth) => send(source, nth)))
      expect(new Set(statuses)).toEqual(new Set([201]))
    },
    { timeout: 20_000, interval: 100 },
  )
  const both = Array(SOURCES).fill('pipe.failed pipe.recovered')
  await vi.waitFor(async () => expect([...(await logged()).values()]).toEqual(both), {
    timeout: 10_000,
    interval: 100,
  })
  await instances.endAll()
  await client.end()
  await drop()
})
