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
  if (code !== 0 && p99 <= 100) throw new Error(`The receiver refused some:\n${said}`)
  const name = 'feedback at 500 events a second, 99 % of the answers within'
  return [{ name, unit: 'ms', ours: p99, mostOfOurs: 100 }]
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
