import { spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

let directory: string

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'inlet-count-'))
})
afterEach(() => rm(directory, { recursive: true }))

describe('the last lines of .ci/run', () => {
  test('name and count the tests that passed only on a retry', async () => {
    const report = await runTests(flaky('first'), fine('second'), flaky('third'))

    const { status, lines } = count(report)

    expect(lines).toEqual([
      expect.stringMatching(/^retried: .*some\.test\.js > suite first$/),
      '  Error: once',
      expect.stringMatching(/^retried: .*some\.test\.js > suite third$/),
      '  Error: once',
      '2 retried',
      '3 passed, 0 failed',
    ])
    expect(status).toBe(0)
  })

  test('fail a run with more than two of them, over all reports', async () => {
    const [one, two] = [await runTests(flaky('a'), flaky('b')), await runTests(flaky('c'))]

    const { status, lines } = count(one, two)

    expect(lines.slice(-2)).toEqual(['3 retried, at most 2 allowed', '3 passed, 0 failed'])
    expect(status).toBe(1)
  })

  test('do not count a test that failed twice as retried', async () => {
    const report = await runTests(fine('a'), `test('b', () => { throw new Error('always') })`)

    expect(count(report).lines).toEqual(['0 retried', '1 passed, 1 failed'])
  })
})

const fine = (name: string) => `test('${name}', () => {})`
const flaky = (name: string) =>
  `let ${name} = 0; test('${name}', () => { if (${name}++ === 0) throw new Error('once') })`

/** With the options of `.ci/run`; returns the path of the report. */
async function runTests(...tests: string[]): Promise<string> {
  const report = join(directory, `${tests.length}.json`)
  await writeFile(join(directory, 'some.test.js'), `describe('suite', () => { ${tests.join('\n')} })`)
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs')
  const options = ['--retry=1', '--reporter=json', `--outputFile.json=${report}`]
  spawnSync(process.execPath, [vitest, 'run', '--root', directory, '--globals', ...options])
  return report
}

function count(...reports: string[]) {
  const { status, stdout } = spawnSync(process.execPath, [join(ROOT, '.ci/count.mjs'), ...reports], {
    encoding: 'utf8',
  })
  return { status, lines: stdout.trimEnd().split('\n') }
}
