/**
 * Takes docs/screenshot.png: `node test/e2e/screenshot.ts`. Starts the service on a temporary database, fills it over
 * its own API, a fake code host and the feedback receiver, and photographs the task page. Needs `npm run build`.
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
const FILE = fileURLToPath(new URL('../../docs/screenshot.png', import.meta.url))
const OPEN_TASK = 'Export to CSV drops the last row'

const host = await startCodeHost()
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

  const repository = host.repository('acme/app')
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
  await send(`${url}/api/codehost/${app.id}/sync`, {
    method: 'POST',
    headers: { 'x-api-key': KEY, prefer: 'wait=30' },
  })

  const feedback: [string, string][] = [
    ['loved', 'The new search is fast!'],
    ['meh', 'Sort saved places by distance'],
    ['frustrated', 'The export button does nothing'],
  ]
  for (const [sentiment, note] of feedback) {
    const properties = { sentiment, trigger: 'manual', app_version: '2.3.1', bundle_id: 'com.acme.app', note }
    const timestamp = new Date().toISOString()
    await send(`${url}/api/analytics/webhook`, {
      method: 'POST',
      headers: { authorization: `Bearer ${SECRET}` },
      body: { event: 'feedback_submitted', distinct_id: `user-${note.length}`, timestamp, properties },
    })
  }

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
    await page.screenshot({ path: FILE, animations: 'disabled', caret: 'hide' })
  } finally {
    await browser.close()
  }
}
