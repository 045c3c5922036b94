import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** The folder of the tools' own package.json. */
export const TOOLS = fileURLToPath(new URL('.', import.meta.url))

const STAMP = `${TOOLS}node_modules/.installed`

/**
 * Installs what `package.json` beside this file names, unless it is there already.
 * @throws Error when npm fails, for example without a network.
 */
export function fetchTools(): void {
  const expected = createHash('sha256')
    .update(readFileSync(`${TOOLS}package-lock.json`))
    .digest('hex')
  if (read(STAMP) === expected) return
  process.stderr.write('Installing the development tools in test/tools (once)...\n')
  // A half-finished install is done anew: the stamp is written last.
  rmSync(STAMP, { force: true })
  const { status } = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: TOOLS,
    stdio: ['ignore', 'ignore', 'inherit'],
    shell: process.platform === 'win32',
  })
  if (status !== 0)
    throw new Error('The development tools could not be installed: `npm ci` in test/tools failed.')
  writeFileSync(STAMP, expected)
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
