import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Figure } from '../support/figures.ts'
import type { Stage } from '../support/stage.ts'

/** The receiver at 500 events a second, by its own measurement. */
export async function feedback(stage: Stage): Promise<Figure[]> {
  const { said, code } = await run('feedback.ts', ['500', '10'], stage)
  const p99 = Number(/p99: ([\d.]+)/.exec(said)?.[1])
  if (!(p99 >= 0)) throw new Error(`The receiver's measurement said no figure:\n${said}`)
  const name = `feedback at 500 events a second, 99 % of the answers within${code === 0 ? '' : ' (LIMIT NOT HELD)'}`
  return [{ name, unit: 'ms', ours: p99, reference: { name: 'limit', value: 100 } }]
}

/** What a sync costs beside fetching the same pages and throwing them away, by its own measurement. */
export async function sync(stage: Stage): Promise<Figure[]> {
  const { said, code } = await run('sync.ts', ['--json'], stage)
  const lines = [
    ...said.matchAll(/^(.+?): completed.* (\d+) ms; fetched and thrown away (\d+) ms; ratio ([\d.]+)/gm),
  ]
  if (lines.length === 0) throw new Error(`The sync's measurement said no figure:\n${said}`)
  return lines.map(([, what, ms, fetched, ratio]) => ({
    name: `sync, ${what}${code === 0 ? '' : ' (LIMIT NOT HELD)'}`,
    unit: 'ms',
    ours: Number(ms),
    reference: { name: 'the same fetched and thrown away', value: Number(fetched) },
    ratio: Number(ratio),
  }))
}

async function run(script: string, args: string[], stage: Stage) {
  const path = fileURLToPath(new URL(`../${script}`, import.meta.url))
  const child = spawn(process.execPath, [path, ...args], {
    env: { ...process.env, TEST_DATABASE_URL: stage.adminUrl },
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: 180_000,
  })
  let said = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  const [code] = await once(child, 'close')
  return { said, code: code as number | null }
}
