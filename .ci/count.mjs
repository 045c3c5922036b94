// Adds up the runners' reports: names what passed only when it was run once more, then prints the closing line.
import { readFileSync } from 'node:fs'
import { relative } from 'node:path'

/** More than these are no stalls of a shared machine, but races. */
const MAX_RETRIED = 2

const reports = process.argv.slice(2).map((file) => JSON.parse(readFileSync(file, 'utf8')))
const sum = (name) => reports.reduce((total, report) => total + report[name], 0)
const passed = sum('numPassedTests')
const failed = sum('numFailedTests')
if (passed === 0) throw new Error('no test ran')

const retried = reports
  .flatMap(({ testResults }) => testResults)
  .flatMap(({ name, assertionResults }) =>
    assertionResults
      // vitest's JSON does not count retries; it keeps the errors of the runs before the one that passed.
      .filter(({ status, failureMessages }) => status === 'passed' && failureMessages?.length > 0)
      .map(({ fullName, failureMessages: [message] }) => {
        const [reason] = message.split('\n')
        return `retried: ${relative(process.cwd(), name)} > ${fullName}\n  ${reason}`
      }),
  )
for (const line of retried) console.log(line)
console.log(
  `${retried.length} retried${retried.length > MAX_RETRIED ? `, at most ${MAX_RETRIED} allowed` : ''}`,
)
console.log(`${passed} passed, ${failed} failed`)
if (retried.length > MAX_RETRIED) process.exitCode = 1
