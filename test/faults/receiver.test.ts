import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterEach, describe, expect, test } from 'vitest'
import { startEmbedded } from '../../src/db/embedded/index.ts'
import { startDatabase, stopDatabase } from '../support/database-control.ts'
import { SETTINGS } from '../support/embedded-process.ts'
import { feedback, sender } from '../support/feedback.ts'
import {
  ADMIN_KEY,
  cleanUp,
  connectionStringOf,
  newDataDir,
  signalServer,
  spawnInlet,
} from '../support/inlet-process.ts'

const PER_SECOND = 50
const AWAY_MS = 3_000
/** In place of a status: the sender got no response in time. */
const NO_RESPONSE = 0

afterEach(cleanUp)

test('an event that was committed without a response, because of a SIGKILL, is a duplicate when it is sent again', {
  timeout: 120_000,
}, async () => {
  const dataDir = await newDataDir()
  const env = { WEBHOOK_SECRET: 'a-secret-of-16-characters' }
  const first = spawnInlet({ dataDir, env })
  const gap = await proxyThatKeepsResponses(await first.url, () => first.process.kill('SIGKILL'))
  const event = feedback()

  await expect(sender(gap.url, 'a-secret-of-16-characters')(event)).rejects.toThrow()
  await first.ended
  gap.close()

  const second = spawnInlet({ dataDir, env })
  const response = await sender(await second.url, 'a-secret-of-16-characters')(event)
  expect(response).toMatchObject({ status: 200, body: { accepted: true, duplicate: true } })
  expect(await tasksOf(await connectionStringOf(dataDir))).toEqual(
    new Map([[event.uuid, [response.body.taskId]]]),
  )
})

describe(`at ${PER_SECOND} events a second, each sent up to three times, every one is a task at the end, once`, () => {
  const stopped = { go: stopDatabase, comeBack: startDatabase }
  const silent = {
    go: (dataDir: string) => signalServer(dataDir, 'SIGSTOP'),
    comeBack: (dataDir: string) => signalServer(dataDir, 'SIGCONT'),
  }

  // Where the machine is so busy that the database comes back after senders have given up, nothing is told: once more.
  const options = { timeout: 90_000, retry: 2 }

  test.each([
    ['stopped', stopped],
    ['silent', silent],
  ])('when the database is %s for 3 s', options, async (_, { go, comeBack }) => {
    const dataDir = await newDataDir()
    const log = { info: () => undefined, warn: () => undefined }
    const { connectionString } = await startEmbedded({ dataDir, log, settings: SETTINGS })
    const inlet = spawnInlet({ env: { DATABASE_URL: connectionString } })
    const url = await inlet.url
    const send = persistentSender(url, await newSecret(url))
    const sent: { uuid: string; done: Promise<number[]> }[] = []
    const stream = setInterval(() => {
      const event = feedback({ user_email: 'jane.doe@example.org' })
      sent.push({ uuid: event.uuid, done: send(event) })
    }, 1_000 / PER_SECOND)

    await sleep(1_500)
    await go(dataDir)
    await sleep(AWAY_MS)
    await comeBack(dataDir)
    await sleep(1_500)
    clearInterval(stream)
    const tries = await Promise.all(sent.map(({ done }) => done))

    const statuses = new Set(tries.flat())
    expect([...statuses].filter((status) => ![NO_RESPONSE, 200, 201, 503].includes(status))).toEqual([])
    expect(tries.filter((statuses) => ![200, 201].includes(statuses.at(-1) ?? NO_RESPONSE))).toEqual([])
    const tasks = await tasksOf(connectionString)
    expect(sent.filter(({ uuid }) => tasks.get(uuid)?.length !== 1)).toEqual([])
    expect(tasks.size).toBe(sent.length)
    expect(inlet.output()).not.toContain('jane.doe')
  })
})

/** As the analytics platform behaves: three tries in about 5 s, 3 s for each response. Returns the statuses. */
function persistentSender(url: string, secret: string) {
  return async (event: object): Promise<number[]> => {
    const statuses: number[] = []
    for (const pauseMs of [500, 1_000, 0]) {
      const status = await fetch(`${url}/api/analytics/webhook`, {
        method: 'POST',
        signal: AbortSignal.timeout(3_000),
        headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
        body: JSON.stringify(event),
      }).then(
        (response) => response.arrayBuffer().then(() => response.status),
        () => NO_RESPONSE,
      )
      statuses.push(status)
      if (status !== NO_RESPONSE && status < 500) return statuses
      await sleep(pauseMs)
    }
    return statuses
  }
}

/** One that lives in the database, so that the guard needs it too. */
async function newSecret(url: string): Promise<string> {
  const response = await fetch(`${url}/api/webhook-secrets`, {
    method: 'POST',
    headers: { 'x-api-key': ADMIN_KEY },
  })
  return ((await response.json()) as { secret: string }).secret
}

/** The ids of the tasks of each event. */
async function tasksOf(connectionString: string): Promise<Map<string, string[]>> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  const { rows } = await client
    .query(
      `select sender_id as uuid, array_agg(t.id) as ids from deliveries as d join tasks as t on t.id::text = d.tasks -> 0 ->> 'taskId'
       group by sender_id`,
    )
    .finally(() => client.end())
  const { length } = rows.flatMap(({ ids }) => ids)
  expect(length).toBe(rows.length)
  return new Map(rows.map(({ uuid, ids }) => [uuid, ids]))
}

/** Lets requests through, and calls when the first byte of a response comes: nothing of it is passed on. */
async function proxyThatKeepsResponses(url: string, onResponse: () => void) {
  const { hostname, port } = new URL(url)
  const proxy = createServer((client) => {
    const server = connect(Number(port), hostname)
    client.pipe(server)
    server.once('data', onResponse)
    server.on('close', () => client.destroy())
    for (const socket of [client, server]) socket.on('error', () => undefined)
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  return { url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, close: () => proxy.close() }
}
