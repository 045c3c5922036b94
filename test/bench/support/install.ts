import { spawnSync } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Setup } from './setup.ts'

/**
 * Installs a package of npm for this run, and returns its folder of installation.
 * @throws Error with npm's output, for example without a network
 */
export async function install({ directory }: Setup, { name, version }: { name: string; version: string }) {
  const folder = join(directory, name)
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'package.json'), '{"private":true}')
  const { status, stderr } = spawnSync('npm', ['install', '--no-audit', '--no-fund', `${name}@${version}`], {
    cwd: folder,
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`${name} could not be installed:\n${stderr}`)
  return folder
}
