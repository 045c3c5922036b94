import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterEach, expect, test } from 'vitest'
import { type Follower, followChanges, followEvents } from '../support/change-followers.ts'
import { writeInLongTransactions, writeOverApi } from '../support/change-writers.ts'
import { reportFault } from '../support/fault-report.ts'
import { ADMIN_KEY, cleanUp } from '../support/inlet-process.ts'
import { startInstances } from '../support/instances.ts'
import { freshDatabase } from '../support/postgres.ts'
import { randomFrom } from '../support/random.ts'

/** `CHANGE_FEED_SEEDS=20` runs as many. */
const SEEDS = Array.from({ length: Number(process.env.CHANGE_FEED_SEEDS ?? 2) }, (_, n) => n + 1)
const WRITERS = { short: 10, long: 6 }
const KILLS = 2
/** At least so many writes, and until all kills are over. */
const WRITES = 500
const MAX_PAUSE_MS = 2_000

afterEach(cleanUp)

test.each(SEEDS)(
  'followers of two instances record exactly the log, while instances are killed: seed %d',
  {
    timeout: 120_000,
  },
  async (seed) => {
    const random = randomFrom(seed)
    const { connectionString, drop } = await freshDatabase()
    const instances = await startInstances(2, connectionString)
    const targets = instances.urls
    const taskIds = await createTasks(targets()[0] ?? '', 8)
    let written = 0
    let kills = 0
    const followers = [
      followChanges({ targets, random: randomFrom(seed + 1_000) }),
      followChanges({ targets, random: randomFrom(seed + 2_000) }),
      followEvents({ targets, random: randomFrom(seed + 3_000) }),
    ]
    const shared = {
      random,
      taskIds,
      onWritten: () => void written++,
      isOver: () => kills === KILLS && written >= WRITES,
    }
    const writers = [
      ...Array.from({ length: WRITERS.short }, () => writeOverApi({ ...shared, targets })),
      ...Array.from({ length: WRITERS.long }, () => writeInLongTransactions({ ...shared, connectionString })),
    ]

    for (; kills < KILLS; kills++) {
      await sleep(MAX_PAUSE_MS * random())
      const nth = Math.floor(random() * 2)
      expect(await instances.end(nth, 'SIGKILL')).toMatchObject({ signal: 'SIGKILL' })
      await instances.start(nth)
    }
    await Promise.all(writers)

    const log = await idsInLog(connectionString)
    // The first follower begins at the start, the stream with what is written after it has begun.
    const [first, second, events] = followers as [Follower, Follower, Follower]
    for (const follower of followers) {
      await expect.poll(() => log.has(follower.record.at(-1)?.id ?? '')).toBe(true)
    }
    await expect.poll(() => [first.record.length, second.record.length]).toEqual([log.size, log.size])
    const lastId = first.record.at(-1)?.id
    await expect.poll(() => events.record.at(-1)?.id, { timeout: 20_000 }).toBe(lastId)
    await Promise.all(followers.map((follower) => follower.stop()))

    const order = idsOf(first)
    expect(new Set(order)).toEqual(log)
    expect(order).toHaveLength(log.size)
    expect(idsOf(second)).toEqual(order)
    expect(idsOf(events)).toEqual(order.slice(-events.record.length))
    expect(titlesOutOfOrder(first)).toEqual([])
    const failures = followers.reduce((sum, follower) => sum + follower.failures(), 0)
    console.log(
      `seed ${seed}: ${log.size} entries, ${events.record.length} on the stream, ${failures} failed requests of followers`,
    )
    reportFault({ fault: 'kill -9 of instances whose changes are followed', times: KILLS * SEEDS.length })
    await instances.endAll()
    await drop()
  },
)

const idsOf = ({ record }: Follower) => record.map(({ id }) => id)

/** Changes of a title that do not begin with the title that the change before made. */
function titlesOutOfOrder({ record }: Follower) {
  const titles = new Map<string, string>()
  return record.flatMap((change) => {
    const title = change.metadata.changes?.title
    if (!title || change.taskId === null) return []
    const before = titles.get(change.taskId) ?? 'Shared'
    titles.set(change.taskId, title.to)
    return before === title.from ? [] : [{ ...change, before }]
  })
}

async function createTasks(url: string, count: number): Promise<string[]> {
  const ids = []
  for (let n = 0; n < count; n++) {
    const response = await fetch(`${url}/api/tasks`, {
      method: 'POST',
      headers: { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json' },
      body: JSON.stringify({ title: 'Shared' }),
    })
    ids.push(((await response.json()) as { id: string }).id)
  }
  return ids
}

async function idsInLog(connectionString: string): Promise<Set<string>> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  const { rows } = await client.query<{ id: string }>('select id from activity')
  await client.end()
  return new Set(rows.map(({ id }) => id))
}
