import { spawnSync } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const MODULE = new URL('../../src/lib/log-destination.ts', import.meta.url).href
const PROGRAM = `
  import { pino } from 'pino'
  import { logDestination } from '${MODULE}'
  const log = pino(logDestination(1))
  log.info('one')
  setTimeout(() => { log.info('two'); console.error('still there') }, 50)`

test('a log line that finds no space is no error of the program, and does not keep it from ending', () => {
  const full = openSync('/dev/full', 'w')

  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', PROGRAM], {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    stdio: ['ignore', full, 'pipe'],
    encoding: 'utf8',
    timeout: 20_000,
  })
  closeSync(full)

  expect(stderr).toBe('still there\n')
  expect(status).toBe(0)
})
