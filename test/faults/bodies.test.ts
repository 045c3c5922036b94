import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { feedback, sender } from '../support/feedback.ts'
import { ADMIN_KEY, cleanUp, type Inlet, newDataDir, spawnInlet } from '../support/inlet-process.ts'
import { loopDelayOf, WATCHED } from '../support/loop-delay.ts'

const SECRET = 'a-webhook-secret-for-tests'
/** For how long one request may hold up all others, on a machine that does nothing else. */
const MAX_DELAY_MS = 50

let inlet: Inlet
let url: string
/** How long the loop stands still while the least is asked of it: what the machine's other work takes. */
let usualDelay: number

beforeAll(async () => {
  inlet = spawnInlet({ dataDir: await newDataDir(), env: { ...WATCHED, WEBHOOK_SECRET: SECRET } })
  url = await inlet.url
  await post('/api/tasks', '{"title":"Warm"}')
  await sender(url, SECRET)(feedback({ note: 'x'.repeat(100_000) }))
  const usual = await loopDelayOf(inlet, async () => {
    for (let n = 0; n < 200; n++) await me()
  })
  usualDelay = usual.delay
}, 120_000)
afterAll(cleanUp)

const post = async (
  path: string,
  body: string,
  headers: Record<string, string> = { 'x-api-key': ADMIN_KEY },
) => {
  const response = await fetch(url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  })
  return { status: response.status, body: await response.json() }
}

const me = () => fetch(`${url}/api/me`, { headers: { 'x-api-key': ADMIN_KEY } }).then(({ status }) => status)

/** With room for what a busy machine adds by itself. */
const bound = () => 3 * MAX_DELAY_MS + 3 * usualDelay

describe('others wait no longer than usual', () => {
  const objects = (count: number) => `[${Array(count).fill('{}').join()}]`

  test('while a stranger sends 340,000 objects', async () => {
    const body = `{"title":"A","metadata":{"a":${objects(340_000)}}}`
    const { result, delay } = await loopDelayOf(inlet, async () => {
      const refused = await Promise.all(Array.from({ length: 4 }, () => post('/api/tasks', body, {})))
      return refused.map(({ status }) => status)
    })
    expect(result).toEqual([401, 401, 401, 401])
    expect(delay).toBeLessThan(bound())
  })

  test('while somebody with a key sends them', async () => {
    const body = `{"title":"A","metadata":{"a":${objects(340_000)}}}`
    const { result, delay } = await loopDelayOf(inlet, () => post('/api/tasks', body))
    expect(result).toMatchObject({ status: 400, body: { errors: [{ path: '/metadata' }] } })
    expect(delay).toBeLessThan(bound())
  })

  test.each([
    [
      '50 addresses and a note of 2 MB',
      () => ({
        note: 'Mail user7@example.org about it. '.repeat(60_000),
        user_email: Array.from({ length: 50 }, (_, n) => `user${n}@example.org`),
      }),
    ],
    ['100,000 properties', () => Object.fromEntries(Array.from({ length: 100_000 }, (_, n) => [`p${n}`, n]))],
    ['600,000 values in one property', () => ({ nested: Array(600_000).fill([]) })],
  ])('while feedback comes with %s, which becomes a task', async (_, properties) => {
    const { result, delay } = await loopDelayOf(inlet, () => sender(url, SECRET)(feedback(properties())))
    expect(result).toMatchObject({ status: 201, body: { accepted: true } })
    expect(delay).toBeLessThan(bound())
  })
})
