import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemClock } from '../../../src/lib/clock.ts'
import { startApp, type TestApp } from '../../support/app.ts'
import { type CodeHostFake, startCodeHost } from '../../support/code-host.ts'
import { deliver, itemDelivery } from '../../support/code-host-deliveries.ts'
import { passTime } from '../../support/database-clock.ts'

let host: CodeHostFake
let ahead: TestApp
let behind: TestApp
/** Only the time of the database counts. */
const wrong = (hours: number) => ({
  ...systemClock(),
  now: () => new Date(Date.now() + hours * 3_600_000),
})

beforeAll(async () => {
  host = await startCodeHost()
  const env = { CODEHOST_API_URLS: host.url, ENCRYPTION_KEY: 'ab'.repeat(32) }
  ahead = await startApp({ env, clock: wrong(7), hasDatabaseClock: true })
  behind = await startApp({ env, clock: wrong(-5), connectionString: ahead.connectionString })
})
afterAll(async () => {
  await behind.close()
  await ahead.close()
  await host.close()
})

/** A connection whose deliveries one instance receives. */
async function received(by: TestApp) {
  const repository = host.repository(`acme/app-${host.requests.length}`)
  const project = await by.given.project()
  const path = `/api/projects/${project.id}/codehost`
  const { webhook } = (await by.put(path, { repository: repository.name, schedule: 'off' })).body
  const about = { api: host.url, repository: repository.about, action: 'opened' }
  const opened = itemDelivery(repository.issue(), about)
  return {
    repository,
    inbox: `/api/deliveries?projectId=${project.id}`,
    send: async () => expect((await deliver(webhook, opened)).status).toBe(202),
    latest: async () =>
      (await ahead.query('select * from deliveries order by received_at desc, id desc limit 1'))[0],
  }
}

async function apply({ service: { push } }: TestApp) {
  while (await push.applyDue(new AbortController().signal));
  await push.whenRefetched()
}

test.each([
  ['ahead', 'behind', () => [ahead, behind] as const],
  ['behind', 'ahead', () => [behind, ahead] as const],
])(
  'what an instance whose clock is %s receives or replays is applied by one that is %s',
  async (_, __, of) => {
    const [receiver, other] = of()
    const { send, inbox } = await received(receiver)
    await send()
    await apply(other)
    const [{ id, outcome }] = (await other.get(inbox)).body.data
    expect(outcome).toBe('accepted')
    expect((await receiver.post(`/api/deliveries/${id}/replay`)).body.outcome).toBe('pending')
    await apply(other)
    expect((await other.get(`/api/deliveries/${id}`)).body.outcome).toBe('updated')
  },
)

test('a delivery that the code host could not be asked about is tried again after five seconds, or as long as it says', async () => {
  const { send, latest, repository } = await received(ahead)
  await send()
  await apply(ahead)
  const isItem = { matches: ({ url }: { url: string }) => url.includes(`/${repository.id}/issues/1`) }
  host.fault({ status: 502 }, isItem)
  host.fault({ status: 429, headers: { 'retry-after': '60' } }, isItem)
  // In the same second: only the code host knows which is newer.
  await send()
  await apply(ahead)
  for (const [seconds, attempts, outcome] of [
    [4, 1, 'pending'],
    [2, 2, 'pending'],
    [58, 2, 'pending'],
    [3, 2, 'updated'],
  ] as const) {
    await passTime(ahead, seconds * 1_000)
    await apply(behind)
    expect(await latest()).toMatchObject({ attempts, outcome })
  }
})
