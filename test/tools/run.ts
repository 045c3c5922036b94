/**
 * `node test/tools/run.ts knip` runs a tool that `npm ci` does not bring, from the root of the repository. The tools
 * are fetched on first use: together they are as large as everything else.
 */
import { spawnSync } from 'node:child_process'
import { fetchTools, TOOLS } from './fetch.ts'

const [tool, ...args] = process.argv.slice(2)
if (!tool) throw new Error('Name a tool: node test/tools/run.ts knip')
fetchTools()
const { status } = spawnSync(`${TOOLS}node_modules/.bin/${tool}`, args, {
  stdio: 'inherit',
  shell: process.platform === 'win32',
})
process.exitCode = status ?? 1
