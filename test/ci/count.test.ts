import { spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

let directory: string
let reports: string

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'inlet-count-'))
  reports = join(directory, 'reports')
  await mkdir(reports)
})
afterEach(() => rm(directory, { recursive: true }))

describe('the last lines of .ci/run', () => {
  test('name and count the tests that passed only on a retry', async () => {
    await runTests(flaky('first'), fine('second'), flaky('third'))

    expect(count()).toEqual({
      status: 0,
      lines: [
        'retried: some.test.js > suite > first',
        '  Error: once',
        'retried: some.test.js > suite > third',
        '  Error: once',
        '2 retried',
        '0 skipped',
        '3 passed, 0 failed',
      ],
    })
  })

  test('fail a run with more than two of them, over all reports', async () => {
    await runTests(flaky('a'), flaky('b'))
    await runTests(flaky('c'))

    const { status, lines } = count()

    expect(lines.slice(-4)).toEqual([
      '3 retried',
      '0 skipped',
      'failed: more than 2 tests passed only on a retry',
      '3 passed, 0 failed',
    ])
    expect(status).toBe(1)
  })

  test('name a test that failed twice, and do not count it as retried', async () => {
    await runTests(fine('a'), `test('b', () => { throw new Error('always') })`)

    expect(count()).toEqual({
      status: 1,
      lines: [
        '0 retried',
        '0 skipped',
        'failed: some.test.js > suite > b',
        '  Error: always',
        '1 passed, 1 failed',
      ],
    })
  })

  test('name and count the tests that were skipped, with the reason', async () => {
    const unreachable = `test('a', ({ skip }) => skip(true, 'Maven cannot be reached: ENOTFOUND'))`
    await runTests(unreachable, fine('b'))
    await runTests(`test.skipIf(true)('c', () => {})`, fine('d'))

    expect(count()).toEqual({
      status: 0,
      lines: [
        '0 retried',
        'skipped: some.test.js > suite > a',
        '  Maven cannot be reached: ENOTFOUND',
        'skipped: some.test.js > suite > c',
        '2 skipped',
        '2 passed, 0 failed',
      ],
    })
  })

  test.each([
    [
      'an error that nobody handled',
      'setTimeout(() => { throw new Error("late") })',
      'unhandled error',
      'late',
    ],
    [
      'an error after all tests',
      'afterAll(() => { throw new Error("left") })',
      'some.test.js > suite',
      'left',
    ],
    ['a file that cannot be read', '}); throw new Error("odd"); (() => {', 'some.test.js', 'odd'],
    ['a process that ended', 'process.kill(process.pid, "SIGKILL")', 'some.test.js', 'did not end'],
  ])('name %s, which fails the run though no test did', async (_, code, name, reason) => {
    await runTests(fine('a'))
    expect(await runTests(fine('b'), code)).not.toBe(0)

    const { status, lines } = count()

    expect(lines).toContain(`failed: ${name}`)
    expect(lines).toContainEqual(expect.stringMatching(new RegExp(`^  .*${reason}`)))
    expect(lines.at(-1)).toMatch(/^[12] passed, 0 failed$/)
    expect(status).toBe(1)
  })

  test('name the steps that failed', async () => {
    await runTests(fine('a'))

    expect(count('npm run test:e2e', 'npm run contract -- --check')).toEqual({
      status: 1,
      lines: [
        '0 retried',
        '0 skipped',
        'failed: npm run test:e2e',
        'failed: npm run contract -- --check',
        '1 passed, 0 failed',
      ],
    })
  })

  test('say that no test ran', async () => {
    expect(count()).toEqual({
      status: 1,
      lines: ['0 retried', '0 skipped', 'failed: no test ran', '0 passed, 0 failed'],
    })
  })
})

const fine = (name: string) => `test('${name}', () => {})`
const flaky = (name: string) =>
  `let ${name} = 0; test('${name}', () => { if (${name}++ === 0) throw new Error('once') })`

let runs = 0

/** With the options of `.ci/run`; returns the status of the runner. */
async function runTests(...tests: string[]): Promise<number | null> {
  await writeFile(join(directory, 'some.test.js'), `describe('suite', () => { ${tests.join('\n')} })`)
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs')
  const options = ['--retry=1', `--reporter=${join(ROOT, '.ci/report.mjs')}`]
  return spawnSync(process.execPath, [vitest, 'run', '--root', directory, '--globals', ...options], {
    env: { ...process.env, CI_REPORT: join(reports, `${++runs}.json`) },
  }).status
}

function count(...failedSteps: string[]) {
  const program = join(ROOT, '.ci/count.mjs')
  const { status, stdout } = spawnSync(process.execPath, [program, reports, ...failedSteps], {
    encoding: 'utf8',
  })
  return { status, lines: stdout.trimEnd().split('\n') }
}
