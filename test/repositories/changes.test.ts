import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { afterAll, afterEach, beforeEach, describe, expect, inject, test } from 'vitest'
import { type Database, openDatabase } from '../../src/db/pool.ts'
import { repositories } from '../../src/repositories/index.ts'
import { adoptDatabase, changeSequencer } from '../../src/services/activity/sequencer.ts'
import { times } from '../support/concurrent.ts'
import { dropDatabase, freshDatabase, urlOf, withAdmin } from '../support/postgres.ts'

/** An activity of a task with so many rows like it. */
const INSERT = `
  insert into activity (id, type, message, task_id, actor_type, actor_name, metadata, created_at)
  select gen_random_uuid(), 'test', $1, $2, 'system', 'test', '{}', now() from generate_series(1, $3)`
const TASK = '019aa3d2-6f4e-7cc0-a1b2-3c4d5e6f7081'

const databases: { drop(): Promise<void> }[] = []
let connectionString: string
let db: Database
let clients: pg.Client[] = []
beforeEach(async () => {
  const database = await freshDatabase()
  databases.push(database)
  connectionString = database.connectionString
  db = open(connectionString)
  await adoptDatabase(changes())
})
afterEach(async () => {
  await Promise.all(clients.map((client) => client.end().catch(() => undefined)))
  clients = []
  await db.$client.end()
})
afterAll(async () => {
  for (const database of databases) await database.drop()
})

const open = (url: string) => openDatabase({ connectionString: url, size: 10, onError: () => {} })
const changes = (on: Parameters<typeof repositories>[0] = db) => repositories(on).changes
const sequencerOn = (on = db) =>
  changeSequencer({ changes: changes(on), adopt: () => adoptDatabase(changes(on)) })

async function connect(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString })
  client.on('error', () => {})
  await client.connect()
  clients.push(client)
  return client
}

/** A transaction that has its number already. */
async function begin(): Promise<pg.Client> {
  const client = await connect()
  await client.query('begin')
  await client.query('select pg_current_xact_id()')
  return client
}

interface Writing {
  on?: Pick<pg.Client, 'query'>
  task?: string | null
  count?: number
}

const write = (message: string, { on = db.$client, task = null, count = 1 }: Writing = {}) =>
  on.query(INSERT, [message, task, count])

/** The messages in the order of positions, which are consecutive. */
async function inOrder(on = db): Promise<(string | null)[]> {
  const rows = await changes(on).list({ after: 0, to: Number.MAX_SAFE_INTEGER, limit: 100_000 })
  expect(rows.map(({ position }) => position)).toEqual(rows.map((_, index) => index + 1))
  return rows.map(({ message }) => message)
}

describe('activity gets positions', () => {
  test('in the order of its commits', async () => {
    const [a, b] = [await begin(), await begin()]
    await write('a', { on: a })
    await write('b', { on: b })
    await b.query('commit')
    expect(await changes().sequence()).toMatchObject({ outcome: 'done', end: { position: 1 } })
    await write('c')
    expect(await changes().sequence()).toMatchObject({ outcome: 'done', end: { position: 2 } })
    await a.query('commit')
    expect(await changes().sequence()).toMatchObject({ outcome: 'done', end: { position: 3 } })

    expect(await inOrder()).toEqual(['b', 'c', 'a'])
  })

  test('in the order of the versions of its task, against the numbers of its transactions and its ids', async () => {
    const writers = [await begin(), await begin(), await begin(), await begin()]
    // The last one to begin is the first to change the task.
    for (const [version, writer] of writers.toReversed().entries()) {
      await write(`version ${version}`, { on: writer, task: TASK })
      await writer.query('commit')
    }

    await changes().sequence()

    expect(await inOrder()).toEqual(['version 0', 'version 1', 'version 2', 'version 3'])
  })

  test('not before it is committed, and never if it is rolled back', async () => {
    const [kept, undone] = [await begin(), await begin()]
    await write('kept', { on: kept })
    await write('undone', { on: undone })
    await kept.query('savepoint inner_one')
    await write('undone in a savepoint', { on: kept })
    await kept.query('rollback to inner_one')
    expect(await changes().sequence()).toMatchObject({ outcome: 'done', end: { position: 0 } })
    await undone.query('rollback')
    await kept.query('commit')

    await changes().sequence()

    expect(await inOrder()).toEqual(['kept'])
  })

  test('once, while many writers and several instances work at the same time', async () => {
    const other = open(connectionString)
    let isWriting = true
    const instances = [changes(), changes(), changes(other)].map(async (instance) => {
      while (isWriting) await instance.sequence(7)
    })
    await times(16, async (writer) => {
      const client = await connect()
      for (let n = 0; n < 30; n++) {
        await client.query('begin')
        await write(`${writer} ${n}`, { on: client, task: TASK })
        if (n % 3 === 0) await write(`${writer} ${n} too`, { on: client })
        await client.query(n % 7 === 0 ? 'rollback' : 'commit')
      }
    })
    isWriting = false
    await Promise.all(instances)
    await sequencerOn(other).catchUp()
    await other.$client.end()

    const { rows } = await db.$client.query('select message from activity')
    expect((await inOrder()).sort()).toEqual(rows.map(({ message }) => message).sort())
  })

  test('in passes of a bounded size, in the same order', async () => {
    const [early, late] = [await begin(), await begin()]
    await write('late', { on: late, task: TASK, count: 12 })
    await late.query('commit')
    await write('early', { on: early, task: TASK, count: 12 })
    await early.query('commit')

    const outcomes = []
    for (let n = 0; n < 2; n++) outcomes.push((await changes().sequence(10)).outcome)
    await write('meanwhile')
    for (let n = 0; n < 2; n++) outcomes.push((await changes().sequence(10)).outcome)

    expect(outcomes).toEqual(['more', 'more', 'done', 'done'])
    expect(await inOrder()).toEqual([...Array(12).fill('late'), ...Array(12).fill('early'), 'meanwhile'])
  })

  test('also where the last of them fill a pass', async () => {
    await write('x', { count: 10 })
    const outcomes = []
    for (let n = 0; n < 3; n++) outcomes.push((await changes().sequence(10)).outcome)
    await write('y')
    await changes().sequence(10)

    expect(outcomes).toEqual(['more', 'done', 'done'])
    expect(await inOrder()).toEqual([...Array(10).fill('x'), 'y'])
  })

  test('of the next pass, if the instance that gives them is killed', async () => {
    await write('before')
    const killed = open(connectionString)
    const { rows } = await db.$client.query('select count(*)::int as count from changes')
    await killed
      .transaction(async (tx) => {
        const { outcome } = await changes(tx).sequence()
        expect(outcome).toBe('done')
        // Others do not wait for it.
        expect((await changes().sequence()).outcome).toBe('busy')
        await tx.execute('select pg_terminate_backend(pg_backend_pid())')
      })
      .catch(() => undefined)
    await killed.$client.end()
    await write('after')

    expect(rows).toEqual([{ count: 0 }])
    expect((await changes().sequence()).outcome).toBe('done')
    expect(await inOrder()).toEqual(['before', 'after'])
  })

  test('of one instance, if another was faster after both had read what there is', async () => {
    await write('one')
    const faster = await connect()
    await faster.query('begin')
    await faster.query('select from change_feed for update')
    const slower = changes().sequence()
    await expect
      .poll(async () => {
        const { rows } = await faster.query('select count(*)::int as count from pg_locks where not granted')
        return rows[0].count
      })
      .toBeGreaterThan(0)
    await faster.query('insert into changes select 1, id from activity')
    await faster.query('update change_feed set last_position = 1')
    await faster.query('commit')

    expect((await slower).outcome).toBe('busy')
    expect(await inOrder()).toEqual(['one'])
  })

  test('without a write when there is nothing new', async () => {
    await write('one')
    await changes().sequence()
    const state = () => db.$client.query('select xmin::text, * from change_feed')
    const before = await state()

    for (let n = 0; n < 3; n++) expect((await changes().sequence()).outcome).toBe('done')

    expect((await state()).rows).toEqual(before.rows)
  })
})

describe('a database that was restored from another one', () => {
  test('starts a new epoch, in which activity without a position gets one and no other is repeated', async () => {
    await write('with a position', { count: 3 })
    const { end } = await changes().sequence()
    await write('without', { count: 2 })
    const name = `inlet_copy_${randomBytes(6).toString('hex')}`
    await db.$client.end()
    const { adminUrl } = inject('postgres')
    const source = new URL(connectionString).pathname.slice(1)
    await withAdmin(adminUrl, (admin) => admin.query(`create database ${name} template ${source}`))
    db = open(urlOf(adminUrl, name))
    databases.push({ drop: () => withAdmin(adminUrl, (admin) => dropDatabase(admin, name)) })

    expect((await changes().sequence()).outcome).toBe('foreign')
    const { end: adopted } = await sequencerOn().catchUp()

    expect(adopted.epoch).not.toBe(end.epoch)
    expect(await inOrder()).toEqual([...Array(3).fill('with a position'), 'without', 'without'])
  })

  test('repeats nothing when it reaches the numbers of the transactions of the other cluster', async () => {
    const { rows } = await db.$client.query('select pg_current_xact_id()::text::bigint + 5 as future')
    const { future } = rows[0]
    await write('old', { count: 2 })
    await changes().sequence()
    await write('missed', { count: 2 })
    await db.$client.query(`update activity set transaction = $1::text::xid8`, [future])
    await db.$client.query(
      `update change_feed set database_id = 'another', snapshot = ($1 || ':' || $1 || ':')::pg_snapshot`,
      [future],
    )
    await write('written before anybody noticed')

    await Promise.all([adoptDatabase(changes()), adoptDatabase(changes())])
    for (let n = 0; n < 10; n++) {
      await write('new')
      await changes().sequence()
    }

    const messages = (await changes().list({ after: 0, to: 1_000, limit: 1_000 })).map(
      ({ message }) => message,
    )
    expect(messages).toEqual([
      ...['old', 'old', 'missed', 'missed', 'written before anybody noticed'],
      ...Array(10).fill('new'),
    ])
  })

  test('keeps its positions in a new epoch when asked for one', async () => {
    await write('one')
    const { end } = await changes().sequence()
    await changes().renewEpoch()
    await write('two')
    const renewed = await changes().sequence()

    expect(renewed.end).toEqual({ epoch: expect.not.stringMatching(end.epoch), position: 2 })
    expect(await inOrder()).toEqual(['one', 'two'])
  })
})
