import { describe, expect, test } from 'vitest'
import { checkHistories } from './support/check.ts'
import type { HistoryOptions } from './support/history.ts'

const HISTORIES = Number(process.env.HISTORIES ?? 200)
/** The first hundred histories have this seed, the next ones the next. */
const SEED = Number(process.env.FC_SEED ?? Date.now() % 2 ** 31)
/** With the seed, what a failure has printed: to see it again. */
const PATH = process.env.FC_PATH

const PROPERTIES: (HistoryOptions & { name: string })[] = [
  { name: 'by deliveries alone, if none is lost', projects: ['all'], isSyncedAtEnd: false },
  { name: 'after a full run, whichever deliveries are lost', projects: ['some'], isSyncedAtEnd: true },
  {
    name: 'after a full run alike, where all deliveries are lost and where none is',
    projects: ['all', 'none'],
    isSyncedAtEnd: true,
  },
]

/** What has to happen in a few hundred histories, or they show nothing. */
const INTERRUPTIONS = [
  /request killed/,
  /request (?:fails|response lost)/,
  /arrives late/,
  /request (?:before|after) overlapped/,
  /statement killed before/,
  /statement killed after/,
  /statement overlapped/,
]

describe('changes on both sides, with crashes at every step, end in the state of the code host', () => {
  test.each(PROPERTIES)(
    '$name',
    { timeout: 60 * 60_000 + HISTORIES * 2_000 },
    async ({ name, ...options }) => {
      const { failures, tally } = await checkHistories({
        ...options,
        runs: HISTORIES,
        seed: SEED,
        path: PATH,
        onChunk({ from, to, seed, ms, failure }) {
          const outcome = failure === undefined ? 'passed' : `failed: ${failure}`
          process.stdout.write(
            `${name}: ${from + 1} to ${to}, seed ${seed}, ${Math.round(ms)} ms: ${outcome}\n`,
          )
        },
      })
      process.stdout.write(`${name}: ${JSON.stringify(Object.fromEntries([...tally].toSorted()))}\n`)
      expect(failures).toEqual([])
      if (HISTORIES >= 200)
        expect(INTERRUPTIONS.filter((each) => ![...tally.keys()].some((what) => each.test(what)))).toEqual([])
    },
  )
})
