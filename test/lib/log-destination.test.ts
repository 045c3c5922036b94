import { spawnSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { logDestination } from '../../src/lib/log-destination.ts'

const MODULE = new URL('../../src/lib/log-destination.ts', import.meta.url).href

/** Runs a program that logs to its standard output. */
function run(statements: string, { stdout = 'pipe' }: { stdout?: 'pipe' | number } = {}) {
  const program = `
    import { pino } from 'pino'
    import { logDestination } from '${MODULE}'
    const log = pino({}, logDestination(1))
    ${statements}`
  return spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    stdio: ['ignore', stdout, 'pipe'],
    encoding: 'utf8',
    timeout: 20_000,
  })
}

test('a log line that finds no space is no error of the program, and does not keep it from ending', () => {
  const full = openSync('/dev/full', 'w')

  const { status, stderr } = run(
    `log.info('one'); setTimeout(() => { log.info('two'); console.error('still there') }, 50)`,
    { stdout: full },
  )
  closeSync(full)

  expect(stderr).toBe('still there\n')
  expect(status).toBe(0)
})

test('lines of one turn of the event loop are written together', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'inlet-log-'))
  const file = join(directory, 'log')
  const fd = openSync(file, 'w')
  const destination = logDestination(fd)

  destination.write('one\n')
  await Promise.resolve()
  destination.write('two\n')
  expect(readFileSync(file, 'utf8')).toBe('')
  await nextTurn()
  expect(readFileSync(file, 'utf8')).toBe('one\ntwo\n')

  closeSync(fd)
  rmSync(directory, { recursive: true })
})

test.each([`process.exit(3)`, `throw new Error('crash')`])('lines before %s are written', (end) => {
  const { stdout } = run(`log.info('one'); log.error('two'); ${end}`)

  expect(stdout).toMatch(/^{.*"one"}\n{.*"two"}\n$/)
})
