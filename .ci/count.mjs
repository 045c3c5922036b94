// Adds up the runners' reports and prints the closing line.
import { readFileSync } from 'node:fs'

const reports = process.argv.slice(2).map((file) => JSON.parse(readFileSync(file, 'utf8')))
const sum = (name) => reports.reduce((total, report) => total + report[name], 0)
const passed = sum('numPassedTests')
const failed = sum('numFailedTests')
if (passed === 0) throw new Error('no test ran')
console.log(`${passed} passed, ${failed} failed`)
