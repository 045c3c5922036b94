import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fetchTools, TOOLS } from '../tools/fetch.ts'

const BIN = `${TOOLS}node_modules/.bin/`

/** The official conformance suite and inspector: each run is in the same new folder, under this very Node. */
export async function officialMcpTools() {
  fetchTools()
  const folder = await mkdtemp(join(tmpdir(), 'inlet-mcp-'))

  function run(
    tool: 'conformance' | 'mcp-inspector',
    args: string[],
  ): Promise<{ code: number | null; output: string; errors: string }> {
    const child = spawn(process.execPath, [BIN + tool, ...args], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let [output, errors] = ['', '']
    child.stdout.setEncoding('utf8').on('data', (text) => {
      output += text
    })
    child.stderr.setEncoding('utf8').on('data', (text) => {
      errors += text
    })
    return new Promise((resolve) => child.on('close', (code) => resolve({ code, output, errors })))
  }

  return { run, close: () => rm(folder, { recursive: true }) }
}
