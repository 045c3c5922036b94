import { randomUUID } from 'node:crypto'
import { type Figure, inPairs, quantile } from '../support/figures.ts'
import { type BenchRequest, delaysAtRate } from '../support/load.ts'
import { type Setup, whilePaused } from '../support/setup.ts'

const PER_SECOND = 500
const SECONDS = 10
const WARM_UP_SECONDS = 3
/** The rates that are tried, events per second. */
const RATES = [1_000, 2_000, 2_500, 3_000, 3_500, 4_000, 5_000]
const RATE_SECONDS = 6
const RATE_P99_MS = 100
const SECRET = randomUUID()

/** The variables of a service whose receiver `feedbackRequest` may use at any rate. */
export const RECEIVER = { WEBHOOK_SECRET: SECRET, RATE_LIMIT_RECEIVER_PER_MINUTE: '0' }

/** The feedback receiver: its delay at 500 events a second, and the highest rate that it keeps up with. */
export async function feedback(setup: Setup): Promise<Figure[]> {
  const running = await setup.service({ DATABASE_URL: await setup.database('feedback'), ...RECEIVER })
  const bare = await setup.bare({})
  const receiver = { url: running.url, request: feedbackRequest, status: 201 }
  const nothing = { url: bare.url, request: delivery('/'), status: 200 }
  const p99 = async (target: typeof receiver, perSecond = PER_SECOND, seconds = SECONDS) =>
    quantile(await delaysAtRate({ ...target, perSecond, seconds }), 0.99)
  await p99(receiver, PER_SECOND, WARM_UP_SECONDS)
  await p99(nothing, PER_SECOND, WARM_UP_SECONDS)
  const figure = await inPairs({
    name: `feedback at ${PER_SECOND} events a second for ${SECONDS} s, p99`,
    unit: 'ms',
    measure: () => p99(receiver),
    reference: { name: 'bare Fastify', measure: () => whilePaused(running, () => p99(nothing)) },
  })
  await bare.stop()

  let highest = PER_SECOND
  for (const rate of RATES) {
    if ((await p99(receiver, rate, RATE_SECONDS)) >= RATE_P99_MS) break
    highest = rate
  }
  await running.stop()
  return [
    { ...figure, valueLimit: { atMost: 20 } },
    {
      name: `highest rate of feedback with a p99 under ${RATE_P99_MS} ms`,
      unit: '/s',
      value: highest,
      valueLimit: { atLeast: 4_000 },
    },
  ]
}

const delivery = (path: string) => (): BenchRequest => ({
  method: 'POST',
  path,
  headers: { authorization: `Bearer ${SECRET}`, 'content-type': 'application/json' },
  body: JSON.stringify(event()),
})

export const feedbackRequest = delivery('/api/analytics/webhook')

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
