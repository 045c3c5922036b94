/**
 * The feedback receiver against its limit: 500 events a second for 20 s, sent on a clock and not one after another's
 * answer, over loopback to a server of its own. `node test/bench/feedback.ts [events a second] [seconds]`; with
 * TEST_DATABASE_URL on a database of that server, else on the embedded one.
 */
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'

const PER_SECOND = Number(process.argv[2] ?? 500)
const SECONDS = Number(process.argv[3] ?? 20)
const WARM_UP_SECONDS = 2
const SECRET = randomUUID()
const KEY = `bench-${randomUUID()}`

const dataDir = await mkdtemp(join(tmpdir(), 'inlet-bench-'))
const database = await ownDatabase()
const server = spawn(process.execPath, ['src/server.ts'], {
  env: {
    PORT: '0',
    DATA_DIR: dataDir,
    DATABASE_URL: database?.url ?? '',
    WEBHOOK_SECRET: SECRET,
    BOOTSTRAP_API_KEY: KEY,
    RATE_LIMIT_RECEIVER_PER_MINUTE: '0',
  },
  stdio: ['ignore', 'pipe', 'inherit'],
})
try {
  const url = await addressOf()
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })
  await flood(url, agent, WARM_UP_SECONDS)
  const { delays, statuses } = await flood(url, agent, SECONDS)
  agent.destroy()
  const at = (share: number) => Math.round((delays[Math.ceil(delays.length * share) - 1] ?? 0) * 10) / 10
  console.log({ perSecond: PER_SECOND, seconds: SECONDS, statuses: Object.fromEntries(statuses) })
  console.log({ p50: at(0.5), p95: at(0.95), p99: at(0.99), 'p99.9': at(0.999), max: at(1), unit: 'ms' })
  const isHeld = at(0.99) < 100 && statuses.size === 1 && statuses.get(201) === PER_SECOND * SECONDS
  console.log(isHeld ? 'The limit is held.' : 'THE LIMIT IS NOT HELD.')
  process.exitCode = isHeld ? 0 : 1
} finally {
  const ended = once(server, 'exit')
  server.kill('SIGTERM')
  await ended
  await database?.drop()
  await rm(dataDir, { recursive: true, force: true })
}

/** Delays are counted from when an event was due, so that a sender that lags behind cannot hide a slow answer. */
async function flood(url: string, agent: Agent, seconds: number) {
  const delays: number[] = []
  const statuses = new Map<number, number>()
  const begin = performance.now()
  const total = PER_SECOND * seconds
  let sent = 0
  let answered = 0
  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      const due = Math.min(total, ((performance.now() - begin) / 1000) * PER_SECOND)
      for (; sent < due; sent++) send(begin + (sent / PER_SECOND) * 1000)
      if (sent === total) clearInterval(timer)
    }, 2)

    function send(dueAt: number) {
      const body = JSON.stringify(event())
      const headers = { authorization: `Bearer ${SECRET}`, 'content-type': 'application/json' }
      const sending = request(
        `${url}/api/analytics/webhook`,
        { method: 'POST', agent, headers },
        (answer) => {
          answer.resume().on('end', () => done(answer.statusCode ?? 0))
        },
      )
      sending.on('error', () => done(0)).end(body)

      function done(status: number) {
        delays.push(performance.now() - dueAt)
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
        if (++answered === total) resolve()
      }
    }
  })
  return { delays: delays.sort((a, b) => a - b), statuses }
}

function event() {
  return {
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
  }
}

/** What the server says of itself when it listens. All it says is read: a full pipe would hold it up. */
function addressOf(): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  let said = ''
  server.stdout.setEncoding('utf8').on('data', (text: string) => {
    if (said.length < 100_000) said += text
    const url = /Inlet is at (\S+?)\/?\s/.exec(said)?.[1]
    if (url) resolve(url)
  })
  server.once('exit', () => reject(new Error(`The server ended: ${said}`)))
  return promise
}

async function ownDatabase() {
  const adminUrl = process.env.TEST_DATABASE_URL
  if (!adminUrl) return undefined
  const name = `inlet_bench_${process.pid}`
  await asAdmin(`create database ${name}`)
  const url = new URL(adminUrl)
  url.pathname = `/${name}`
  return { url: url.href, drop: () => asAdmin(`drop database ${name} with (force)`) }

  async function asAdmin(statement: string) {
    const admin = new pg.Client({ connectionString: adminUrl })
    await admin.connect()
    await admin.query(statement).finally(() => admin.end())
  }
}
