/**
 * Measures this machine: `npm run bench`, or `npm run bench -- writes pages` for some parts. Prints the table of
 * docs/performance.md, writes all figures to `dist/bench.json`, and exits with 1 when a limit is missed. It needs a
 * quiet machine, and pgbench in PATH.
 */
import { mkdir, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { dashboard } from './parts/dashboard.ts'
import { feedback } from './parts/feedback.ts'
import { pages, sizes } from './parts/pages.ts'
import { peers } from './parts/peers.ts'
import { memory, soak, start } from './parts/process.ts'
import { push } from './parts/push.ts'
import { sync } from './parts/sync.ts'
import { schema, writes } from './parts/writes.ts'
import { type Figure, machine, missedLimits, stolenSince, tableOf } from './support/figures.ts'
import { type Setup, setUp } from './support/setup.ts'

const PARTS: Record<string, (setup: Setup) => Promise<Figure[]>> = {
  start,
  memory,
  schema,
  writes,
  pages,
  feedback,
  push,
  sync,
  soak,
}
/** Only when named: they take long, or other software. */
const FURTHER_PARTS = { sizes, peers, dashboard }

const { values, positionals } = parseArgs({ allowPositionals: true, options: { peers: { type: 'boolean' } } })
const parts = { ...PARTS, ...FURTHER_PARTS }
const unknown = positionals.filter((name) => !(name in parts))
if (unknown.length > 0) {
  console.error(`No such part: ${unknown.join(', ')}. Parts: ${Object.keys(parts).join(', ')}.`)
  process.exit(2)
}
const named = [...(positionals.length > 0 || values.peers ? positionals : Object.keys(PARTS))]
if (values.peers) named.push('peers')

const stolen = stolenSince()
const setup = await setUp()
process.once('SIGINT', () => setup.clear().finally(() => process.exit(130)))
const figures: Figure[] = []
try {
  for (const [name, measure] of Object.entries(parts)) {
    if (!named.includes(name)) continue
    const stolenHere = stolenSince()
    console.error(`${new Date().toISOString().slice(11, 19)} ${name} ...`)
    figures.push(...(await measure(setup)))
    console.error(`         ${(stolenHere() * 100).toFixed(1)} % stolen`)
  }
} finally {
  await setup.clear()
}
const share = stolen()
console.log(
  `${tableOf(figures)}\n\nOn ${machine()}. Other machines on the same host took ${(share * 100).toFixed(1)} % of the cores' time.`,
)
const directory = fileURLToPath(new URL('../../dist/', import.meta.url))
await mkdir(directory, { recursive: true })
await writeFile(
  `${directory}bench.json`,
  `${JSON.stringify({ at: new Date(), machine: machine(), stolen: share, figures }, null, 2)}\n`,
)
const missed = missedLimits(figures)
for (const each of missed) console.error(`Limit missed: ${each}.`)
process.exitCode = missed.length > 0 ? 1 : 0
