import { execFileSync, spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { freePort } from '../support/free-port.ts'
import { ADMIN_KEY, cleanUp, spawnInlet } from '../support/inlet-process.ts'
import { freshDatabase } from '../support/postgres.ts'
import { temporaryRoot } from '../support/postgres-server.ts'

const DOCS = fileURLToPath(new URL('../../docs/', import.meta.url))

/** The machine's own, and in .ci/run also that of the next Debian. */
const PROGRAMS = ['prometheus', ...(process.env.PROMETHEUS_NEXT ? [process.env.PROMETHEUS_NEXT] : [])]

const ends: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
  await cleanUp()
})

test.each(PROGRAMS)(
  '%s scrapes with the documented configuration, and fires an alert',
  {
    timeout: 120_000,
  },
  async (program) => {
    const { connectionString, drop } = await freshDatabase()
    ends.push(drop)
    const inlet = spawnInlet({ env: { DATABASE_URL: connectionString } })
    const prometheus = await startPrometheus(program, await inlet.url)

    const targets = async () => (await prometheus.get('/api/v1/targets')).activeTargets
    await expect
      .poll(targets, { timeout: 30_000 })
      .toMatchObject([{ health: 'up', lastError: '', labels: { job: 'inlet' } }])
    const [{ metric }] = (await prometheus.get('/api/v1/query?query=inlet_database_up')).result
    expect(metric).toMatchObject({ __name__: 'inlet_database_up', job: 'inlet' })
    const firing = async () =>
      (await prometheus.get('/api/v1/alerts')).alerts
        .filter(({ state }: { state: string }) => state === 'firing')
        .map(({ labels }: { labels: { alertname: string } }) => labels.alertname)
    expect(await firing()).toEqual([])

    inlet.process.kill('SIGKILL')
    await expect.poll(firing, { timeout: 30_000 }).toContain('InletDown')
  },
)

/** With the configuration of the guide, in which only the address, the paths, and the times are others. */
async function startPrometheus(program: string, inletUrl: string) {
  const folder = await mkdtemp(join(await temporaryRoot(), 'inlet-prometheus-'))
  ends.push(() => rm(folder, { recursive: true, force: true, maxRetries: 10 }))
  const path = (name: string) => join(folder, name)
  await writeFile(path('key'), `${await metricsKey(inletUrl)}\n`)
  const rules = await readFile(join(DOCS, 'prometheus-alerts.yml'), 'utf8')
  await writeFile(path('alerts.yml'), rules.replaceAll(/\bfor: \w+/g, 'for: 0s'))
  const guide = await readFile(join(DOCS, 'operating.md'), 'utf8')
  const [, documented = ''] = /```yaml\n(scrape_configs:\n[\s\S]*?)```/.exec(guide) ?? []
  const { scrape_configs } = parse(
    documented
      .replace('/etc/prometheus/inlet-key', path('key'))
      .replace('127.0.0.1:3000', new URL(inletUrl).host),
  )
  const global = { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' }
  await writeFile(path('config.yml'), stringify({ global, rule_files: [path('alerts.yml')], scrape_configs }))
  execFileSync('promtool', ['check', 'config', path('config.yml')])

  const port = await freePort()
  const flags = [
    `--config.file=${path('config.yml')}`,
    `--storage.tsdb.path=${path('data')}`,
    `--web.listen-address=127.0.0.1:${port}`,
  ]
  const server = spawn(program, flags, { stdio: 'ignore' })
  const ended = new Promise((resolve) => server.once('close', resolve))
  ends.push(async () => {
    server.kill('SIGTERM')
    await ended
  })
  const address = `http://127.0.0.1:${port}`
  const isReady = () =>
    fetch(`${address}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    )
  await expect.poll(isReady, { timeout: 30_000 }).toBe(true)
  return {
    // biome-ignore lint/suspicious/noExplicitAny: what Prometheus returns.
    get: async (route: string): Promise<any> => {
      const response = await fetch(address + route)
      return ((await response.json()) as { data: unknown }).data
    },
  }
}

async function metricsKey(url: string): Promise<string> {
  const response = await fetch(`${url}/api/keys`, {
    method: 'POST',
    headers: { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'prometheus', scopes: ['metrics:read'] }),
  })
  expect(response.status).toBe(201)
  return ((await response.json()) as { key: string }).key
}
