import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { listen } from '../../src/db/listen.ts'
import { startDatabaseProxy } from '../support/database-proxy.ts'
import { freshDatabase } from '../support/postgres.ts'

let database: Awaited<ReturnType<typeof freshDatabase>>
let notifier: pg.Client
beforeAll(async () => {
  database = await freshDatabase()
  notifier = new pg.Client({ connectionString: database.connectionString })
  await notifier.connect()
})
afterAll(async () => {
  await notifier.end()
  await database.drop()
})

const SILENCE_MS = 1_000

test.each([
  ['was cut', 'cut'],
  ['went dead silently', 'strand'],
] as const)(
  'a listener reconnects after its connection %s, and is notified that it may have missed something',
  async (_, fault) => {
    const proxy = await startDatabaseProxy(database.connectionString)
    const received: string[] = []
    const errors: string[] = []
    const listener = listen({
      connectionString: proxy.connectionString,
      channels: { news: (payload) => received.push(payload) },
      onError: ({ message }) => errors.push(message),
      silenceMs: SILENCE_MS,
    })
    await listener.ready
    await notify('one')
    await expect.poll(() => received).toEqual(['', 'one'])

    proxy[fault]()

    await expect.poll(() => received).toEqual(['', 'one', ''])
    await notify('two')
    await expect.poll(() => received).toEqual(['', 'one', '', 'two'])
    expect(errors).not.toEqual([])
    await listener.close()
    proxy.close()
  },
)

test('a listener takes a notice that cannot be read for one without content', async () => {
  const received: unknown[] = []
  const unreadable: string[] = []
  const listener = listen({
    connectionString: database.connectionString,
    channels: { news: (payload) => received.push(payload === '' ? '' : JSON.parse(payload)) },
    onError: () => unreadable.push('connection lost'),
    onUnreadable: ({ channel }) => unreadable.push(channel),
  })
  await listener.ready
  await notify('{')
  await notify('"two"')

  await expect.poll(() => received).toEqual(['', '', 'two'])
  expect(unreadable).toEqual(['news'])
  await listener.close()
})

test('a listener keeps its connection while there are no notifications', async () => {
  const received: string[] = []
  const listener = listen({
    connectionString: database.connectionString,
    channels: { news: (payload) => received.push(payload) },
    onError: () => received.push('broken'),
    silenceMs: SILENCE_MS,
  })
  await listener.ready

  await new Promise((resolve) => setTimeout(resolve, 2 * SILENCE_MS))

  expect(received).toEqual([''])
  await listener.close()
})

const notify = (payload: string) => notifier.query(`select pg_notify('news', $1)`, [payload])
