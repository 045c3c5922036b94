import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import { reportFault } from '../support/fault-report.ts'
import { ADMIN_KEY, cleanUp, newDataDir, spawnInlet } from '../support/inlet-process.ts'
import { deliver } from '../support/sources.ts'

const LOOP = '{% for a in (1..30000) %}{% for b in (1..30000) %}{% endfor %}{% endfor %}'
const DELIVERIES = 20

afterAll(cleanUp)

test('a source whose template loops delays no other source and no test, now or later', async () => {
  const url = await spawnInlet({
    dataDir: await newDataDir(),
    env: { RATE_LIMIT_RECEIVER_PER_MINUTE: '0', RATE_LIMIT_FAILURES_PER_MINUTE: '0' },
  }).url
  const call = async (method: string, path: string, body?: object) => {
    const response = await fetch(url + path, {
      method,
      headers: { 'x-api-key': ADMIN_KEY, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    })
    // biome-ignore lint/suspicious/noExplicitAny: each use states what it expects.
    return { status: response.status, body: (await response.json()) as any }
  }
  const project = (await call('POST', '/api/projects', { name: 'Forms' })).body
  const sourceOf = async (title: string) => {
    const verify = { scheme: 'bearer' }
    const source = { name: 'Forms', projectId: project.id, verify, template: { title } }
    const { status, body } = await call('POST', '/api/sources', source)
    expect(status).toBe(201)
    return body
  }
  const looping = await sourceOf(LOOP)
  const other = await sourceOf('{{ payload.title }}')
  let number = 0
  const others = {
    deliver: () => deliver({ url }, { source: other, payload: { title: `Title ${++number}` } }),
    test: () => call('POST', `/api/sources/${other.id}/test`, { payload: { title: 'Test' } }),
  }

  /** The longest that each of the others takes, one after the other, while the work is done. */
  const longestDuring = async (work: Promise<unknown>) => {
    const longest = { deliver: 0, test: 0 }
    let isOver = false
    const ended = work.finally(() => {
      isOver = true
    })
    while (!isOver) {
      for (const name of ['deliver', 'test'] as const) {
        const since = performance.now()
        expect((await others[name]()).status).toBe(name === 'test' ? 200 : 201)
        longest[name] = Math.max(longest[name], performance.now() - since)
      }
      await sleep(20)
    }
    await ended
    return longest
  }
  // The threads have started.
  await longestDuring(sleep(500))
  const usual = await longestDuring(sleep(3_000))
  const outcomes = async () => {
    const { body } = await call('GET', `/api/deliveries?sourceId=${looping.id}&limit=200`)
    return (body.data as { outcome: string }[]).map(({ outcome }) => outcome)
  }
  const countOf = (all: string[], one: string) => all.filter((outcome) => outcome === one).length
  const sendAll = async () => {
    const sent = await Promise.all(
      Array.from({ length: DELIVERIES }, (_, id) => deliver({ url }, { source: looping, payload: { id } })),
    )
    const pending = sent.filter(({ status }) => status === 202).length
    expect(sent.filter(({ status }) => status !== 202).map(({ status }) => status)).toEqual(
      Array.from({ length: DELIVERIES - pending }, () => 400),
    )
    // The job takes two of those that wait.
    await expect
      .poll(async () => countOf(await outcomes(), 'pending'), { timeout: 60_000, interval: 500 })
      .toBeLessThanOrEqual(pending - 2)
    return pending
  }
  let pending = 0
  const during = await longestDuring(
    sendAll().then((count) => {
      pending = count
    }),
  )
  const ended = await outcomes()
  expect(countOf(ended, 'rejected') + countOf(ended, 'pending')).toBe(DELIVERIES)
  reportFault({
    fault: 'a source whose template loops',
    times: 1,
    requests: DELIVERIES,
    longestWaitMs: Math.max(during.deliver, during.test),
    note: `${DELIVERIES - pending} x 400, ${pending} x 202; a delivery of another source took at most ${ms(during.deliver)} (without the fault ${ms(usual.deliver)}), a test of a source ${ms(during.test)} (${ms(usual.test)})`,
  })
  // The first delivery loops for a tenth of a second before it goes on in another thread.
  expect(during.deliver).toBeLessThan(10 * usual.deliver + 1_000)
  expect(during.test).toBeLessThan(10 * usual.test + 1_000)
}, 120_000)

const ms = (time: number) => `${Math.round(time)} ms`
