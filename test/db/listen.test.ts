import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { listen } from '../../src/db/listen.ts'
import { startDatabaseProxy } from '../support/database-proxy.ts'
import { freshDatabase } from '../support/postgres.ts'

let database: Awaited<ReturnType<typeof freshDatabase>>
let speaker: pg.Client
beforeAll(async () => {
  database = await freshDatabase()
  speaker = new pg.Client({ connectionString: database.connectionString })
  await speaker.connect()
})
afterAll(async () => {
  await speaker.end()
  await database.drop()
})

const SILENCE_MS = 1_000

test.each([
  ['was cut', 'cut'],
  ['went dead without a word', 'strand'],
] as const)(
  'who listens is there again after its connection %s, and hears that it may have missed something',
  async (_, fault) => {
    const proxy = await startDatabaseProxy(database.connectionString)
    const heard: string[] = []
    const troubles: string[] = []
    const listener = listen({
      connectionString: proxy.connectionString,
      channels: { news: (payload) => heard.push(payload) },
      onError: ({ message }) => troubles.push(message),
      silenceMs: SILENCE_MS,
    })
    await listener.ready
    await say('one')
    await expect.poll(() => heard).toEqual(['', 'one'])

    proxy[fault]()

    await expect.poll(() => heard).toEqual(['', 'one', ''])
    await say('two')
    await expect.poll(() => heard).toEqual(['', 'one', '', 'two'])
    expect(troubles).not.toEqual([])
    await listener.close()
    proxy.close()
  },
)

test('who listens keeps its connection while nobody speaks', async () => {
  const heard: string[] = []
  const listener = listen({
    connectionString: database.connectionString,
    channels: { news: (payload) => heard.push(payload) },
    onError: () => heard.push('broken'),
    silenceMs: SILENCE_MS,
  })
  await listener.ready

  await new Promise((resolve) => setTimeout(resolve, 2 * SILENCE_MS))

  expect(heard).toEqual([''])
  await listener.close()
})

const say = (payload: string) => speaker.query(`select pg_notify('news', $1)`, [payload])
