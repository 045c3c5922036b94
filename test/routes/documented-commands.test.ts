import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Syncing, startSyncing } from '../support/syncing.ts'

const DOCUMENTED = 'http://127.0.0.1:3000'
const WEBHOOK_SECRET = 'documented-webhook-secret'

const root = fileURLToPath(new URL('../..', import.meta.url))
const pages = ['README.md', ...readdirSync(`${root}/docs`).map((file) => `docs/${file}`)].filter((file) =>
  file.endsWith('.md'),
)
const commands = pages.flatMap((page) =>
  [...readFileSync(`${root}/${page}`, 'utf8').matchAll(/^```bash\n(curl [\s\S]*?)^```$/gm)].map(
    ([, command = '']) => ({ page, command: command.trim() }),
  ),
)

let service: Syncing
/** Some commands write files. */
const cwd = mkdtempSync(join(tmpdir(), 'inlet-commands-'))
const env: Record<string, string> = { PATH: process.env.PATH ?? '', INLET_WEBHOOK_SECRET: WEBHOOK_SECRET }
beforeAll(async () => {
  service = await startSyncing({
    env: { WEBHOOK_SECRET, WEBHOOK_ALLOW_HOSTS: 'hooks.example.com' },
    tokens: { 'ghp_...': {} },
  })
  service.host.repository('acme/app').fill(2)
  env.INLET_KEY = service.adminKey
  env.METRICS_KEY = service.adminKey
  const project = await service.given.project()
  env.PROJECT = project.id
  env.LIST = project.inbox.id
  env.TASK = (await service.given.task(project.inbox)).id
  env.REPORT = (await service.given.task(project.inbox)).id
})
afterAll(async () => {
  await service.close()
  rmSync(cwd, { recursive: true })
})

test('the README finds the first project and its list', async () => {
  const [, lines = ''] =
    /^```bash\n(export PROJECT=[\s\S]*?)^```$/m.exec(readFileSync(`${root}/README.md`, 'utf8')) ?? []
  const script = `${lines.replaceAll(DOCUMENTED, service.url)}\necho $PROJECT $LIST`

  const { stdout } = await promisify(execFile)('sh', ['-c', script], { env })

  const { data: projects } = (await service.get('/api/projects?limit=1')).body
  const { data: lists } = (await service.get(`/api/projects/${projects[0].id}/lists?limit=1`)).body
  expect(stdout.trim()).toBe(`${projects[0].id} ${lists[0].id}`)
})

describe('the curl commands of the guides', () => {
  test('are found', () => {
    expect(commands.length).toBeGreaterThan(15)
  })

  test.each(commands)('work: $page: $command', async ({ command }) => {
    // A stream has no end of its own.
    const seconds = command.includes('/api/stream') ? 2 : 60
    // To the error output: the other one may be piped to a program.
    const options = `--max-time ${seconds} -w '%{stderr}\\n%{http_code}'`
    // The commands before it may have changed the task.
    const [, version] = /If-Match: "(\d+)"/.exec(command) ?? []
    if (version) await service.query('update tasks set version = $1 where id = $2', [version, env.TASK])
    const line = command.replaceAll(DOCUMENTED, service.url).replace(/^curl /, `curl ${options} `)

    const { stderr } = await promisify(execFile)('sh', ['-c', line], { cwd, env }).catch(
      (error: { stderr: string }) => error,
    )

    expect(stderr).toMatch(/\n20[0-2]$/)
  })
})
