import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from '../support/source-files.ts'

const MAX_LINES = 300

test('no test file has more than 300 lines', () => {
  const exclude = (path: string) => path.endsWith('node_modules')
  const long = globSync('test/**/*.{ts,tsx}', { cwd: root, exclude })
    .map((file) => ({ file, lines: readFileSync(join(root, file), 'utf8').split('\n').length - 1 }))
    .filter(({ lines }) => lines > MAX_LINES)
    .map(({ file, lines }) => `${file} has ${lines} lines: split it by what it tests`)
  expect(long).toEqual([])
})
