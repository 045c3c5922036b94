// Adds up the reports of report.mjs, and says why the run fails if it does. The last line counts the tests.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** More than these are no stalls of a shared machine, but races. */
const MAX_RETRIED = 2

const [directory, ...failedSteps] = process.argv.slice(2)
const reports = readdirSync(directory).map((file) => JSON.parse(readFileSync(join(directory, file), 'utf8')))
const all = (name) => reports.flatMap((report) => report[name])

const passed = reports.reduce((sum, report) => sum + report.passed, 0)
const [failed, retried] = [all('failed'), all('retried')]
for (const { name, reason } of retried) console.log(`retried: ${name}\n  ${reason}`)
console.log(`${retried.length} retried`)
const skipped = all('skipped')
for (const { name, reason } of skipped) console.log(`skipped: ${name}${reason ? `\n  ${reason}` : ''}`)
console.log(`${skipped.length} skipped`)

const reasons = [
  ...[...failed, ...all('errors')].map(({ name, reason }) => `${name}\n  ${reason}`),
  ...failedSteps,
  ...(retried.length > MAX_RETRIED ? [`more than ${MAX_RETRIED} tests passed only on a retry`] : []),
  ...(passed === 0 ? ['no test ran'] : []),
]
for (const reason of reasons) console.log(`failed: ${reason}`)
console.log(`${passed} passed, ${failed.length} failed`)
if (reasons.length > 0) process.exitCode = 1
