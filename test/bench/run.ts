/**
 * Measures this machine: `npm run bench`, or `npm run bench -- creates pages` for some parts. Prints the table of docs/performance.md
 * and writes everything to `dist/bench.json`. It needs a quiet machine, and pgbench in PATH for the creates.
 */
import { mkdir, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { creates } from './parts/creates.ts'
import { feedback } from './parts/feedback.ts'
import { pages } from './parts/pages.ts'
import { memory, start } from './parts/process.ts'
import { sync } from './parts/sync.ts'
import { exceeded, type Figure, machine, stolenSince, tableOf } from './support/figures.ts'
import { type Stage, setStage } from './support/stage.ts'

const PARTS: Record<string, (stage: Stage) => Promise<Figure[]>> = {
  start,
  memory,
  creates,
  pages,
  feedback,
  sync,
}

const wanted = process.argv.slice(2)
const unknown = wanted.filter((name) => !PARTS[name])
if (unknown.length > 0) {
  console.error(`There is no part ${unknown.join(', ')}; there are ${Object.keys(PARTS).join(', ')}.`)
  process.exit(2)
}

const stolen = stolenSince()
const stage = await setStage()
process.once('SIGINT', () => stage.clear().finally(() => process.exit(130)))
const figures: Figure[] = []
try {
  for (const [name, measure] of Object.entries(PARTS)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue
    console.error(`${new Date().toISOString().slice(11, 19)} ${name} ...`)
    figures.push(...(await measure(stage)))
  }
} finally {
  await stage.clear()
}
const share = stolen()
console.log(
  `${tableOf(figures)}\n\nOn ${machine()}. ${(share * 100).toFixed(1)} % of the cores' time was taken by others.`,
)
await mkdir(fileURLToPath(new URL('../../dist', import.meta.url)), { recursive: true })
const file = fileURLToPath(new URL('../../dist/bench.json', import.meta.url))
await writeFile(
  file,
  `${JSON.stringify({ at: new Date(), machine: machine(), stolen: share, figures }, null, 2)}\n`,
)
const beyond = exceeded(figures)
for (const each of beyond) console.error(`Beyond its limit: ${each}.`)
process.exitCode = beyond.length > 0 ? 1 : 0
