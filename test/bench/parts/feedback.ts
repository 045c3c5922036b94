import { randomUUID } from 'node:crypto'
import { Pool } from 'undici'
import { type Figure, inPairs, quantile } from '../support/figures.ts'
import type { Stage } from '../support/stage.ts'

const PER_SECOND = 500
const SECONDS = 20
const WARM_UP_SECONDS = 3
const SECRET = randomUUID()

/** The receiver at 500 events a second, sent on a clock and not one after another's answer, against Fastify alone. */
export async function feedback(stage: Stage): Promise<Figure[]> {
  const running = await stage.service({
    DATABASE_URL: await stage.database('feedback'),
    WEBHOOK_SECRET: SECRET,
    RATE_LIMIT_RECEIVER_PER_MINUTE: '0',
  })
  const bare = await stage.bare('bare.ts', {})
  const receiver: Target = { url: running.url, path: '/api/analytics/webhook', status: 201 }
  const nothing: Target = { url: bare.url, path: '/', status: 200 }
  await delaysOf(receiver, WARM_UP_SECONDS)
  await delaysOf(nothing, WARM_UP_SECONDS)
  const within = async (target: Target) => quantile(await delaysOf(target, SECONDS), 0.99)
  const figure = await inPairs({
    name: `feedback at ${PER_SECOND} events a second for ${SECONDS} s, 99 % of the answers within`,
    unit: 'ms',
    ours: () => within(receiver),
    reference: { name: 'Fastify that does nothing', measure: () => within(nothing) },
  })
  await bare.stop()
  await running.stop()
  return [{ ...figure, mostOfOurs: 100 }]
}

interface Target {
  url: string
  path: string
  /** Another answer ends the measurement: what is refused is fast. */
  status: number
}

/** Counted from when an event was due, so that a sender that lags behind cannot hide a slow answer. */
async function delaysOf(target: Target, seconds: number): Promise<number[]> {
  const pool = new Pool(target.url, { connections: 64, pipelining: 1 })
  const begin = performance.now()
  const total = PER_SECOND * seconds
  const answers: Promise<number | Error>[] = []
  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      const due = Math.min(total, ((performance.now() - begin) / 1000) * PER_SECOND)
      while (answers.length < due) {
        const dueAt = begin + (answers.length / PER_SECOND) * 1000
        answers.push(delayOf(pool, target, dueAt).catch((error: Error) => error))
      }
      if (answers.length < total) return
      clearInterval(timer)
      resolve()
    }, 2)
  })
  const delays = await Promise.all(answers)
  await pool.destroy()
  return delays.map((delay) => {
    if (delay instanceof Error) throw delay
    return delay
  })
}

async function delayOf(pool: Pool, { path, status }: Target, dueAt: number): Promise<number> {
  const answer = await pool.request({
    method: 'POST',
    path,
    headers: { authorization: `Bearer ${SECRET}`, 'content-type': 'application/json' },
    body: JSON.stringify(event()),
  })
  const said = await answer.body.text()
  if (answer.statusCode !== status)
    throw new Error(`An event was answered with ${answer.statusCode}: ${said}`)
  return performance.now() - dueAt
}

const event = () => ({
  uuid: randomUUID(),
  event: 'feedback_submitted',
  distinct_id: 'user-4711',
  timestamp: new Date().toISOString(),
  properties: {
    sentiment: 'frustrated',
    trigger: 'manual',
    app_version: '2.3.1',
    bundle_id: 'com.example.app',
    surface: 'web_app',
    device_model: 'Pixel 9',
    is_pro_user: true,
    user_email: 'someone@example.com',
    note: 'The export button does nothing. I pressed it five times, and then the app was gone.',
  },
})
