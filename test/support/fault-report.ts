import { appendFileSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inject } from 'vitest'
import type { TestProject } from 'vitest/node'
import type { Tally } from './retrying-client.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Where tests of faults put down what they measured, one JSON line each. */
    faultReport: string
  }
}

/** What a fault did, as seen by the clients; what was not measured is left out. */
export interface FaultMeasurement {
  /** As in the first column of the table: `kill -9 of an instance`. */
  fault: string
  times: number
  /** Requests that clients sent, with those that they repeated. */
  requests?: number
  /** Requests that were sent again after a connection error, a 408, 429, 502, 503 or 504. */
  retried?: number
  /** The longest time that a client went without a usable response, in milliseconds. */
  longestWaitMs?: number
  /** From the end of the fault until each client had a usable response; the longest of all times. */
  recoveryMs?: number
  /** Whatever else was measured: `heap at most 140 MB`. */
  note?: string
}

/**
 * Puts down a line of the table that `npm run test:faults` prints at its end and `docs/faults.md` shows. Every test of
 * a fault may call it, once it has passed.
 */
export function reportFault(measurement: FaultMeasurement): void {
  appendFileSync(inject('faultReport'), `${JSON.stringify(measurement)}\n`)
}

interface LoadMeasurement {
  tally: Tally
  recoveries: number[]
  note?: string
}

/** The same, for a load of careful clients and how long each recovery took. */
export function reportLoad(fault: string, { tally, recoveries, note }: LoadMeasurement): void {
  const reasons = [...tally.retries].map(([reason, count]) => `${count} x ${reason}`).join(', ')
  reportFault({
    fault,
    times: recoveries.length,
    requests: tally.requests,
    retried: [...tally.retries.values()].reduce((sum, count) => sum + count, 0),
    longestWaitMs: tally.waits.reduce((longest, wait) => Math.max(longest, wait), 0),
    recoveryMs: Math.max(...recoveries),
    note: [note, reasons].filter(Boolean).join('; '),
  })
}

/** Set-up of the run: a file for the measurements; when all is done they are printed as a table. */
export default async function startReport(project: TestProject): Promise<() => Promise<void>> {
  const directory = await mkdtemp(join(tmpdir(), 'inlet-fault-report-'))
  const file = join(directory, 'measurements.ndjson')
  appendFileSync(file, '')
  project.provide('faultReport', file)
  return async () => {
    const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean)
    await rm(directory, { recursive: true })
    if (lines.length > 0) console.log(`\n${table(lines.map((line) => JSON.parse(line)))}\n`)
  }
}

function table(measurements: FaultMeasurement[]): string {
  // A test that was retried reports again: the last time counts.
  const latest = [...new Map(measurements.map((each) => [each.fault, each])).values()]
  const rows = latest
    .sort((a, b) => a.fault.localeCompare(b.fault))
    .map((each) => [
      each.fault,
      count(each.times),
      count(each.requests),
      count(each.retried),
      seconds(each.longestWaitMs),
      seconds(each.recoveryMs),
      each.note ?? '',
    ])
  const head = ['Fault', 'Times', 'Requests', 'Retried', 'Longest wait', 'Recovery', 'Also']
  const rule = ['---', '---:', '---:', '---:', '---:', '---:', '---']
  return [head, rule, ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

const count = (value = Number.NaN) => (Number.isNaN(value) ? '' : value.toLocaleString('en'))

const seconds = (ms = Number.NaN) =>
  Number.isNaN(ms) ? '' : ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`
