/**
 * Takes docs/screenshot.png and docs/screenshots: `node test/e2e/screenshot.ts`. Starts the service on a temporary
 * database, fills it over its own API, a fake code host and the feedback receiver, and photographs pages. Needs
 * `npm run build`.
 */
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { startCodeHost } from '../support/code-host.ts'
import { launchBrowser } from '../tools/playwright.ts'

const KEY = randomBytes(24).toString('hex')
const SECRET = randomBytes(24).toString('hex')
const DOCS = fileURLToPath(new URL('../../docs/', import.meta.url))
const WEEKS = 12
const WEEK_MS = 7 * 24 * 3_600_000
const OPEN_TASK = 'Export to CSV drops the last row'

const FEEDBACK: [string, string][] = [
  ['loved', 'The new search is fast!'],
  ['meh', 'Sort saved places by distance'],
  ['frustrated', 'The export button does nothing'],
]
const SIZES = [
  { width: 1280, height: 800 },
  { width: 768, height: 1024 },
  { width: 390, height: 844 },
]
/** Those of docs/screenshots, and what each shows once it is loaded. */
const PAGES = {
  triage: { path: '/triage', text: 'left' },
  overview: { path: '/overview', text: 'Opened and closed' },
  feedback: { path: '/overview/feedback', text: 'Sentiment for each version' },
  incoming: { path: '/incoming', text: 'Contact form' },
  'code-hosts': { path: '/settings/code-hosts', text: 'acme/app' },
  'source-by-example': {
    path: '/settings/sources?source=new&preset=grafana_alerts',
    text: 'Since 2026',
  },
}

const host = await startCodeHost()
const repository = host.repository('acme/app')
const dataDir = await mkdtemp(join(tmpdir(), 'inlet-screenshot-'))
const service = spawn(process.execPath, ['src/server.ts'], {
  cwd: fileURLToPath(new URL('../..', import.meta.url)),
  env: {
    PATH: process.env.PATH,
    PORT: '0',
    DATA_DIR: join(dataDir, 'data'),
    BOOTSTRAP_API_KEY: KEY,
    WEBHOOK_SECRET: SECRET,
    CODEHOST_API_URLS: host.url,
  },
  stdio: ['ignore', 'pipe', 'inherit'],
})
try {
  const url = await addressOf(service.stdout)
  await photograph(url, await fill(url))
} finally {
  service.kill('SIGTERM')
  if (service.exitCode === null) await once(service, 'exit')
  await host.close()
  await rm(dataDir, { recursive: true, force: true })
}

async function addressOf(output: Readable): Promise<string> {
  let written = ''
  for await (const text of output.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
    written += text
    const address = /^Inlet is running at (\S+)\/$/m.exec(written)?.[1]
    if (!address) continue
    output.resume()
    return address
  }
  throw new Error(`The service ended before it listened:\n${written}`)
}

/** A team's ordinary week: its repository, feedback of its app, and what monitoring reported. */
async function fill(url: string) {
  const api = (path: string, { key = KEY, ...content }: Content & { key?: string }) =>
    send(url + path, { ...content, headers: { 'x-api-key': key } })
  const { data: projects } = await api('/api/projects', { method: 'GET' })
  await api(`/api/projects/${projects[0].id}`, { method: 'PATCH', body: { name: 'Operations' } })
  const app = await api('/api/projects', { method: 'POST', body: { name: 'Mobile app' } })
  await api('/api/projects', { method: 'POST', body: { name: 'Website' } })
  await api(`/api/projects/${app.id}/lists`, { method: 'POST', body: { name: 'Next release' } })
  await api('/api/webhook-routing', {
    method: 'POST',
    body: { appMatch: 'com.acme.app', targetProjectId: app.id },
  })
  const monitoring = await api('/api/keys', {
    method: 'POST',
    body: { name: 'Error tracker', projectId: app.id },
  })
  const person = await api('/api/keys', { method: 'POST', body: { name: 'Support team', scopes: ['admin'] } })

  repository.issue({ title: 'Crash when the camera view rotates', labels: ['bug'], assignees: ['mira'] })
  repository.issue({ title: 'Support dark mode on tablets' })
  repository.pull({ title: 'Cache avatars on disk', assignees: ['jonas'] })
  repository.issue({ title: 'Sign-in fails behind a proxy', labels: ['priority:high'] })
  repository.pull({ title: 'Upgrade the map library to 5.2' })
  repository.issue({ title: 'Show the distance in miles' })
  await api(`/api/projects/${app.id}/codehost`, {
    method: 'PUT',
    body: { repository: 'acme/app', schedule: 'off' },
  })
  await sync(url, { projectId: app.id })

  for (const [sentiment, note] of FEEDBACK) await sendFeedback(url, { sentiment, note, version: '2.3.1' })

  const tasks: object[] = [
    { title: 'Uploads time out above 20 MB', priority: 'high', labels: ['alert'] },
    { title: 'Push notifications arrive twice', labels: ['bug'] },
    { title: 'Remove the unused location permission', priority: 'low' },
    { title: 'Search index grows by 2 GB a day', labels: ['alert'] },
    {
      title: OPEN_TASK,
      priority: 'high',
      labels: ['bug'],
      externalUrl: 'https://errors.acme.example/4711',
      description:
        'A file with **1,001** rows arrives with 1,000.\n\n1. Open *Reports*.\n2. Click **Export**.\n3. Count the rows.\n\nSeen in 2.3.0 and 2.3.1.',
    },
  ]
  for (const task of tasks) await api('/api/tasks', { method: 'POST', body: task, key: monitoring.key })
  const { data: started } = await api('/api/tasks?q=avatars', { method: 'GET' })
  await api(`/api/tasks/${started[0].id}`, { method: 'PATCH', body: { status: 'in_progress' } })
  return { key: person.key as string, projectId: app.id as string }
}

/** What the pictures of the overview show: weeks of issues, more feedback, and a source. */
async function addHistory(url: string, { projectId }: { projectId: string }) {
  const api: Api = (path, content) => send(url + path, { ...content, headers: { 'x-api-key': KEY } })
  for (let week = 1; week < WEEKS; week++) {
    for (let number = 0; number < 3 + ((week * 5) % 7); number++) {
      const createdAt = Date.now() - week * WEEK_MS + number * 3_600_000
      const closedAt = Math.min(createdAt + (1 + ((number * 11) % 9)) * 24 * 3_600_000, Date.now())
      const isClosed = number % 4 !== 3
      repository.issue({
        title: `${number % 2 === 0 ? 'Wrong' : 'Missing'} total on page ${week * 10 + number} of the report`,
        createdAt,
        updatedAt: closedAt,
        ...(isClosed && { state: 'closed', stateReason: 'completed', closedAt }),
      })
    }
  }
  // All of it: they were updated before the last sync.
  await sync(url, { projectId, query: '?mode=full' })
  for (const [index, version] of ['2.2.9', '2.3.0', '2.3.1'].entries())
    for (let number = 0; number < 4 + 3 * index; number++) {
      const [sentiment = '', note = ''] = FEEDBACK[(number + index) % FEEDBACK.length] ?? []
      await sendFeedback(url, { sentiment, note, version })
    }
  await mergeEqual(api)
  await givenSource(url, { api, projectId })
}

function sync(url: string, { projectId, query = '' }: { projectId: string; query?: string }) {
  return send(`${url}/api/codehost/${projectId}/sync${query}`, {
    method: 'POST',
    headers: { 'x-api-key': KEY, prefer: 'wait=30' },
  })
}

function sendFeedback(
  url: string,
  { sentiment, note, version }: Record<'sentiment' | 'note' | 'version', string>,
) {
  return send(`${url}/api/analytics/webhook`, {
    method: 'POST',
    headers: { authorization: `Bearer ${SECRET}` },
    body: {
      event: 'feedback_submitted',
      distinct_id: `user-${note.length}`,
      timestamp: new Date().toISOString(),
      properties: { sentiment, trigger: 'manual', app_version: version, bundle_id: 'com.acme.app', note },
    },
  })
}

type Api = (path: string, content: Content) => Promise<Body>

/** Most of the feedback that has the same note becomes reports of one task. */
async function mergeEqual(api: Api) {
  const { data } = await api('/api/tasks?source=analytics&limit=100', { method: 'GET' })
  const equal = Object.groupBy<string, { id: string; title: string }>(data, ({ title }) => title)
  for (const [target, ...reports] of Object.values(equal).map((group = []) => group))
    for (const { id } of reports.slice(2))
      await api(`/api/tasks/${id}/merge`, { method: 'POST', body: { into: target?.id } })
}

/** One that made tasks, and did not understand a payload. */
async function givenSource(url: string, { api, projectId }: { api: Api; projectId: string }) {
  const source = await api('/api/sources', {
    method: 'POST',
    body: {
      name: 'Contact form',
      projectId,
      verify: { scheme: 'bearer' },
      template: { title: '{{ payload.subject }}', externalId: '{{ payload.id }}' },
    },
  })
  const payloads = [
    { id: 'f-1', subject: 'How do I change my address?', email: 'ada@example.com' },
    { id: 'f-2', subject: 'The invoice of March is missing', email: 'grace@example.com' },
    { id: 'f-3', topic: 'A field with another name' },
  ]
  for (const body of payloads)
    await fetch(`${url}/in/sources/${source.id}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${source.secret}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
}

interface Content {
  method: string
  body?: object
}

// biome-ignore lint/suspicious/noExplicitAny: the script knows what it asked for.
type Body = any

async function send(
  url: string,
  { method, headers, body }: Content & { headers: Record<string, string> },
): Promise<Body> {
  const response = await fetch(url, {
    method,
    headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  })
  if (!response.ok) throw new Error(`${method} ${url}: ${response.status} ${await response.text()}`)
  return response.json()
}

async function photograph(url: string, { key, projectId }: { key: string; projectId: string }) {
  const browser = await launchBrowser()
  try {
    const context = await browser.newContext({
      viewport: { width: 1280, height: 800 },
      colorScheme: 'light',
      reducedMotion: 'reduce',
    })
    await context.request.post(`${url}/api/sessions`, { data: { key }, headers: { origin: url } })
    const page = await context.newPage()
    await page.goto(`${url}/tasks?projectId=${projectId}`)
    await page.getByRole('link', { name: OPEN_TASK }).click()
    await page.getByRole('complementary', { name: 'Task' }).getByRole('listitem').first().waitFor()
    await page.mouse.move(0, 0)
    await page.getByText('Seen in 2.3.0').waitFor()
    await page.screenshot({ path: `${DOCS}screenshot.png`, animations: 'disabled', caret: 'hide' })
    await addHistory(url, { projectId })
    for (const [name, { path, text }] of Object.entries(PAGES)) {
      await page.goto(url + path)
      await page.getByText(text).first().waitFor()
      for (const size of SIZES)
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.setViewportSize(size)
          await page.emulateMedia({ colorScheme })
          await page.waitForTimeout(500)
          const file = `${DOCS}screenshots/${name}-${size.width}-${colorScheme}.jpeg`
          await page.screenshot({ path: file, quality: 80, animations: 'disabled', caret: 'hide' })
        }
    }
  } finally {
    await browser.close()
  }
}
