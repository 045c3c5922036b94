/** The `curl` commands of README.md and docs/, as people copy them. */
import { execFile, spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { fromMarkdown } from 'mdast-util-from-markdown'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TestApp } from '../support/app.ts'
import { startReceiver, WEBHOOK_SECRET } from '../support/feedback.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const ADDRESS = 'http://127.0.0.1:3000'
/** They need a code host, a receiver, another instance, or a version of the task, or don't end by themselves. */
const OMITTED = /\/codehost|hooks\.example\.com|:3001|If-Match|\/api\/stream/

const hasCurl = spawnSync('bash', ['-c', 'curl --version']).status === 0

const guides = readdirSync(join(ROOT, 'docs')).filter((file) => file.endsWith('.md'))
const commands = ['README.md', ...guides.map((file) => `docs/${file}`)].flatMap((file) =>
  fromMarkdown(readFileSync(join(ROOT, file), 'utf8')).children.flatMap((node) =>
    node.type === 'code' && node.lang === 'bash' && /\bcurl /.test(node.value) && !OMITTED.test(node.value)
      ? [{ file, command: node.value, name: node.value.split('\n')[0] }]
      : [],
  ),
)

describe.runIf(hasCurl)('the commands in the documents work as written', () => {
  let app: TestApp
  let folder: string
  let env: Record<string, string | undefined>

  beforeAll(async () => {
    app = (await startReceiver()).service
    folder = await mkdtemp(join(tmpdir(), 'inlet-documents-'))
    const { id: project, inbox } = await app.given.project()
    const [task, report] = [await app.given.task(inbox), await app.given.task(inbox)]
    env = {
      PATH: process.env.PATH,
      INLET_KEY: app.adminKey,
      METRICS_KEY: app.adminKey,
      INLET_WEBHOOK_SECRET: WEBHOOK_SECRET,
      PROJECT: project,
      LIST: inbox.id,
      TASK: task.id,
      REPORT: report.id,
    }
  })
  afterAll(async () => {
    await app.close()
    await rm(folder, { recursive: true })
  })

  test('there are some', () => expect(commands.length).toBeGreaterThan(20))

  test.each(commands)('$file: $name', async ({ command }) => {
    const script = `curl() { command curl --fail-with-body "$@"; }\n${command.replaceAll(ADDRESS, app.url)}`
    const ended = new Promise<string>((resolve) => {
      execFile('bash', ['-c', script], { cwd: folder, env }, (error, stdout) => {
        resolve(error ? `${error.message}\n${stdout}` : '')
      })
    })
    expect(await ended).toBe('')
  })
})
