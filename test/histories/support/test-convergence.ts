import { expect, test } from 'vitest'
import { checkHistories } from './check.ts'
import type { HistoryOptions, Tally } from './history.ts'

const HISTORIES = Number(process.env.HISTORIES ?? 200)
/** The first hundred histories have this seed, the next ones the next. */
const SEED = Number(process.env.FC_SEED ?? Date.now() % 2 ** 31)
/** With the seed, what a failure has printed: to see it again. */
const PATH = process.env.FC_PATH

/** Each hundred has a limit of its own: this one is for when something hangs. */
const TIMEOUT_MS = 7 * 24 * 3_600_000

/** What has to happen in a few hundred histories, or they show nothing. */
const INTERRUPTIONS = [
  /request killed/,
  /request (?:fails|response lost)/,
  /arrives late/,
  /request refused/,
  /request (?:before|after) overlapped/,
  /statement killed before/,
  /statement killed after/,
  /statement overlapped/,
  /here access/,
]

/** Declares a test: changes on both sides, with crashes at every step, end in the state of the code host. */
export function testConvergence(name: string, options: HistoryOptions): void {
  const print = (line: string) => process.stdout.write(`${name}: ${line}\n`)
  test(`changes on both sides, with crashes at every step, end in the state of the code host ${name}`, {
    timeout: TIMEOUT_MS,
  }, async () => {
    const since = performance.now()
    const { failures, tally } = await checkHistories({
      ...options,
      runs: HISTORIES,
      seed: SEED,
      path: PATH,
      onChunk({ from, to, seed, ms, failure }) {
        const outcome = failure === undefined ? 'passed' : `failed: ${failure}`
        print(`${from + 1} to ${to}, seed ${seed}, ${Math.round(ms)} ms: ${outcome}`)
      },
    })
    print(JSON.stringify(Object.fromEntries([...tally].toSorted())))
    const { steps, interruptions } = sumsOf(tally)
    const seconds = Math.round((performance.now() - since) / 1_000)
    const failed = failures.length === 0 ? 'all passed' : `${failures.length} hundreds failed`
    const played = `${HISTORIES} histories from seed ${SEED} on, of ${steps} steps with ${interruptions} interruptions`
    print(`${played}, in ${seconds} s: ${failed}`)
    expect(failures).toEqual([])
    if (HISTORIES >= 200)
      expect(INTERRUPTIONS.filter((each) => ![...tally.keys()].some((what) => each.test(what)))).toEqual([])
  })
}

/** Interruptions are counted by their work: `write: request killed after`. */
function sumsOf(tally: Tally) {
  const sums = { steps: 0, interruptions: 0 }
  for (const [what, count] of tally) sums[what.includes(':') ? 'interruptions' : 'steps'] += count
  return sums
}
