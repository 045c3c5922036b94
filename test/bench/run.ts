/**
 * Measures this machine: `npm run bench`, or `npm run bench -- writes pages` for some parts. Prints the table of
 * docs/performance.md, writes all figures to `dist/bench.json`, and exits with 1 when a limit is missed or a part could
 * not be measured. It needs a quiet machine, pgbench in PATH, a browser, and a network for the other software.
 */
import { mkdir, writeFile } from 'node:fs/promises'
import { loadavg } from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { claims } from './parts/claims.ts'
import { costs } from './parts/costs.ts'
import { dashboard } from './parts/dashboard.ts'
import { exportAndImport } from './parts/export.ts'
import { feedback } from './parts/feedback.ts'
import { lighthouse } from './parts/lighthouse.ts'
import { overview } from './parts/overview.ts'
import { pages, sizes } from './parts/pages.ts'
import { parseServer } from './parts/parse-server.ts'
import { pocketBase } from './parts/pocketbase.ts'
import { install, memory, soak, start } from './parts/process.ts'
import { push } from './parts/push.ts'
import { sync } from './parts/sync.ts'
import { webhooks } from './parts/webhooks.ts'
import { keyed, schema, writes } from './parts/writes.ts'
import { type Figure, machine, missedLimits, stolenSince, tableOf } from './support/figures.ts'
import { type Setup, setUp } from './support/setup.ts'

interface Outcome {
  part: string
  seconds: number
  /** The share of the cores' time that other machines on the same host took. */
  stolen: number
  figures: Figure[]
  /** Why it could not be measured. */
  error?: string
}

type Part = (setup: Setup) => Promise<Figure[]> | AsyncIterable<Figure>

const PARTS: Record<string, Part> = {
  start,
  memory,
  install,
  schema,
  writes,
  keyed,
  claims,
  costs,
  'parse-server': parseServer,
  pocketbase: pocketBase,
  pages,
  overview,
  feedback,
  push,
  sync,
  webhooks,
  export: exportAndImport,
  dashboard,
  lighthouse,
  soak,
  sizes,
}

const { values, positionals } = parseArgs({ allowPositionals: true, options: { peers: { type: 'boolean' } } })
const named = values.peers ? [...positionals, 'parse-server', 'pocketbase'] : positionals
const unknown = named.filter((name) => !(name in PARTS))
if (unknown.length > 0) {
  console.error(`No such part: ${unknown.join(', ')}. Parts: ${Object.keys(PARTS).join(', ')}.`)
  process.exit(2)
}

const [load = 0] = loadavg()
if (load > 0.5) console.error(`Other processes use this machine: its load is ${load.toFixed(1)}.`)
const stolen = stolenSince()
const setup = await setUp()
process.once('SIGINT', () => setup.clear().finally(() => process.exit(130)))
const outcomes: Outcome[] = []
try {
  for (const [part, measure] of Object.entries(PARTS)) {
    if (named.length > 0 && !named.includes(part)) continue
    console.error(`${new Date().toISOString().slice(11, 19)} ${part} ...`)
    const outcome = await outcomeOf(part, measure)
    console.error(`         ${outcome.seconds} s, ${percent(outcome.stolen)} stolen`)
    outcomes.push(outcome)
    await write()
    await setup.reset()
  }
} finally {
  await setup.clear()
}

const figures = outcomes.flatMap((outcome) => outcome.figures)
console.log(
  `${tableOf(figures)}\n\nOn ${machine()}. Other machines on the same host took ${percent(stolen())} of the cores' time.`,
)
for (const { part, stolen } of outcomes.filter(({ stolen }) => stolen >= 0.02))
  console.log(`During ${part}: ${percent(stolen)}.`)
const missed = missedLimits(figures)
for (const each of missed) console.error(`Limit missed: ${each}.`)
const failed = outcomes.filter(({ error }) => error !== undefined)
for (const { part, error } of failed) console.error(`Not measured: ${part}. ${error}`)
process.exitCode = missed.length + failed.length > 0 ? 1 : 0

/** What fails does not lose the figures before it. */
async function outcomeOf(part: string, measure: Part): Promise<Outcome> {
  const stolenHere = stolenSince()
  const since = performance.now()
  const figures: Figure[] = []
  const error = await collect().catch(({ message }: Error) => message)
  const seconds = Math.round((performance.now() - since) / 1_000)
  return { part, seconds, stolen: stolenHere(), figures, ...(error !== undefined && { error }) }

  async function collect(): Promise<undefined> {
    for await (const figure of await measure(setup)) figures.push(figure)
  }
}

/** After each part: the figures of a run that is stopped are kept. */
async function write(): Promise<void> {
  const directory = fileURLToPath(new URL('../../dist/', import.meta.url))
  await mkdir(directory, { recursive: true })
  const run = { at: new Date(), machine: machine(), load, stolen: stolen(), parts: outcomes }
  await writeFile(`${directory}bench.json`, `${JSON.stringify(run, null, 2)}\n`)
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`
}
