import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { deliver, itemDelivery } from '../support/code-host-deliveries.ts'
import { passTime } from '../support/database-clock.ts'
import { type Syncing, startSyncing } from '../support/syncing.ts'
import { applied, POLLING } from '../support/writing-back.ts'

let service: Syncing
beforeAll(async () => {
  service = await startSyncing({ hasDatabaseClock: true })
})
afterAll(() => service.close())

/** A project with so many tasks, whose deliveries are of the second of what is stored: each asks the code host. */
async function asking(count: number, connection: object = {}) {
  const token = crypto.randomUUID()
  service.host.tokens.set(token, {})
  const { project, repository, sync } = await service.connected({ token, ...connection })
  for (let n = 1; n <= count; n++) repository.issue()
  await sync()
  const path = `/api/projects/${project.id}/codehost`
  const webhook = (await service.post(`${path}/webhook-secret`)).body
  const since = service.host.requests.length
  return {
    project,
    repository,
    sync,
    set: () => service.put(path, { repository: repository.name, writeBack: 'state', ...connection }),
    report(number: number) {
      const item = repository.change(number, { title: `Title of ${number}` }, 0)
      item.updatedAt = item.createdAt
      const about = { api: service.host.url, repository: repository.about, action: 'edited' }
      return deliver(webhook, itemDelivery(item, about))
    },
    /** The numbers that were asked for, in order. */
    asked: () =>
      service.host.requests.slice(since).flatMap(({ url }) => {
        const number = new RegExp(`/repositories/${repository.id}/issues/(\\d+)$`).exec(url)?.[1]
        return number === undefined ? [] : Number(number)
      }),
  }
}

/** Holds the response about the first entry from now on. */
function holdFirst() {
  const reached = Promise.withResolvers<void>()
  const held = Promise.withResolvers<void>()
  service.host.onResponse(({ url }) => {
    if (!url.endsWith('/issues/1')) return undefined
    reached.resolve()
    return held.promise
  })
  return {
    reached: reached.promise,
    release() {
      service.host.onResponse(() => {})
      held.resolve()
    },
  }
}

test('while an entry is asked for, others wait once each, however many deliveries there are and however long it takes', async () => {
  const { project, report, asked } = await asking(4)
  const first = holdFirst()
  await report(1)
  await first.reached
  for (let round = 0; round < 3; round++) {
    for (const number of [2, 3, 4]) await report(number)
    await vi.waitFor(async () => {
      const due = await service.query(
        `select from deliveries where outcome = 'pending' and next_attempt_at <= clock_timestamp()`,
      )
      expect(due).toEqual([])
    }, POLLING)
    // Longer than anything may be asked before another instance continues.
    await passTime(service, 61_000)
  }
  await service.service.push.applyDue(new AbortController().signal)
  first.release()
  await applied(service, project.id)
  await service.service.push.whenRefetched()
  expect(asked()).toEqual([1, 2, 3, 4])
})

test('deliveries that wait for a slow response stay with the instance that asked', async () => {
  const { project, report } = await asking(2)
  const first = holdFirst()
  const dueTimes = async () => {
    const pending = `select next_attempt_at as due from deliveries where outcome = 'pending' order by id`
    return (await service.query(pending)).map(({ due }) => Number(due))
  }
  await report(1)
  await first.reached
  await report(2)
  await vi.waitFor(async () => expect(await dueTimes()).toHaveLength(2), POLLING)
  const before = await dueTimes()
  // Before they are due again, which is after 60 s.
  const timing = { timeout: 45_000, interval: 500 }
  await vi.waitFor(
    async () => expect(Math.min(...(await dueTimes()))).toBeGreaterThan(Math.max(...before)),
    timing,
  )
  first.release()
  await applied(service, project.id)
})

test('a rate limit pauses everything that uses the token, and nothing is asked meanwhile', async () => {
  const { report, asked, sync, repository } = await asking(12)
  const isItem = ({ url }: { url: string }) => url.includes(`/repositories/${repository.id}/`)
  service.host.fault({ status: 429, headers: { 'retry-after': '60' } }, { times: 1, matches: isItem })
  await report(1)
  await vi.waitFor(() => expect(asked()).toEqual([1]), POLLING)
  await vi.waitFor(async () => {
    const paused = await service.query(
      'select from codehost_write_limits where paused_until > clock_timestamp()',
    )
    expect(paused).toHaveLength(1)
  }, POLLING)
  for (let number = 2; number <= 12; number++) await report(number)
  const run = await sync()
  expect(run.status).toBe('rate_limited')
  expect(Date.parse(run.retryAt) - Date.now()).toBeGreaterThan(30_000)
  await vi.waitFor(async () => {
    const due = await service.query(
      `select from deliveries where outcome = 'pending' and next_attempt_at <= clock_timestamp()`,
    )
    expect(due).toEqual([])
  }, POLLING)
  expect(asked()).toEqual([1])
  await passTime(service, 61_000)
  const again = [1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]
  await vi.waitFor(() => expect(asked().toSorted((a, b) => a - b)).toEqual(again), POLLING)
})

const rateLimited = { status: 429, headers: { 'retry-after': '60' } }

test.each(['run', 'write', 'connection'])(
  'so does one that a %s meets: nothing is sent with the token meanwhile',
  async (by) => {
    const { project, report, sync, repository, set } = await asking(2, { writeBack: 'state' })
    const tasks = await service.tasksOf(project.id)
    const complete = (number: number) =>
      service.patch(`/api/tasks/${tasks.get(number).id}`, { status: 'done' })
    const since = service.host.requests.length
    const sent = () =>
      service.host.requests.slice(since).filter(({ url }) => url.includes(`/repositories/${repository.id}/`))
    const isOfRepository = ({ url }: { url: string }) => url.includes(`/repositories/${repository.id}/`)
    service.host.fault(rateLimited, { times: 1, matches: isOfRepository })

    if (by === 'write') await complete(1)
    else if (by === 'connection') await set()
    else expect((await sync()).status).toBe('rate_limited')
    await vi.waitFor(() => expect(sent()).toHaveLength(1), POLLING)
    await vi.waitFor(async () => {
      const paused = await service.query(
        'select from codehost_write_limits where paused_until > clock_timestamp()',
      )
      expect(paused).toHaveLength(1)
    }, POLLING)
    await complete(2)
    await report(1)
    if (by !== 'run') expect((await sync()).status).toBe('rate_limited')
    expect(await set()).toMatchObject({
      status: 503,
      body: { detail: expect.stringContaining('limits requests until') },
    })
    await service.service.push.applyDue(new AbortController().signal)
    await service.service.push.whenRefetched()
    await service.service.outbox.sendDue(new AbortController().signal)
    expect(sent()).toHaveLength(1)

    await passTime(service, 61_000)
    await vi.waitFor(() => expect(repository.items.get(2)?.state).toBe('closed'), POLLING)
    await applied(service, project.id)
  },
)

test('a delivery waits twice as long each time that the host does not say for how long', async () => {
  const { project, report, repository } = await asking(1)
  const isItem = ({ url }: { url: string }) => url.includes(`/repositories/${repository.id}/`)
  const past = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1000000000' }
  service.host.fault({ status: 403, headers: past }, { times: 3, matches: isItem })
  await report(1)
  const waits: number[] = []
  for (let attempts = 1; attempts <= 3; attempts++) {
    const wait = await vi.waitFor(async () => {
      const [row] = await service.query(
        `select extract(epoch from next_attempt_at - clock_timestamp())::float as seconds from deliveries
         where project_id = $1 and outcome = 'pending' and attempts = $2 and next_attempt_at > clock_timestamp()`,
        [project.id, attempts],
      )
      return row.seconds as number
    }, POLLING)
    waits.push(Math.round(wait / 60))
    await passTime(service, wait * 1_000 + 1_000)
  }
  expect(waits).toEqual([1, 2, 4])
})
