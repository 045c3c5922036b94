import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { run } from '../../src/db/embedded/run.ts'
import { freePort } from './free-port.ts'
import { temporaryRoot } from './postgres-server.ts'

/** A server of the PostgreSQL that is installed on this machine, for tests of its own programs. */
export async function startInstalledPostgres() {
  const bin = programsFolder()
  const folder = await mkdtemp(join(await temporaryRoot(), 'inlet-installed-'))
  const account = process.getuid?.() === 0 ? accountOf('postgres') : undefined
  if (account) await chown(folder, account.uid, account.gid)
  const port = await freePort()
  const passwordFile = join(folder, 'password')
  await writeFile(passwordFile, PASSWORD, { mode: 0o644 })
  const data = join(folder, 'data')
  const control = async (program: string, ...args: string[]) => {
    const { ok, output } = await run(join(bin, program), { args, account, cwd: folder })
    if (!ok) throw new Error(`${program} failed: ${output}`)
  }
  const initial = [
    '-U',
    'postgres',
    '-A',
    'scram-sha-256',
    `--pwfile=${passwordFile}`,
    '-E',
    'UTF8',
    '--locale=C.UTF-8',
  ]
  await control('initdb', '-D', data, ...initial, '--no-sync')
  const options = `-c port=${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off`
  await control('pg_ctl', 'start', '-D', data, '-w', '-s', '-l', join(folder, 'log'), '-o', options)
  const url = (database: string) => `postgresql://postgres:${PASSWORD}@127.0.0.1:${port}/${database}`
  return {
    url,
    port,
    /** For programs that get no connection string. */
    env: {
      PGHOST: '127.0.0.1',
      PGPORT: String(port),
      PGPASSWORD: PASSWORD,
      PATH: `${bin}:${process.env.PATH}`,
    },
    /** Runs one of its programs, such as pg_dump; throws what it says if it fails. */
    run(program: string, ...args: string[]): void {
      const { status, stderr } = spawnSync(join(bin, program), args, { encoding: 'utf8' })
      if (status !== 0) throw new Error(`${program} failed: ${stderr}`)
    },
    createDatabase(name: string): string {
      this.run('createdb', `--maintenance-db=${url('postgres')}`, '--template=template0', name)
      return url(name)
    },
    async stop(): Promise<void> {
      await control('pg_ctl', 'stop', '-D', data, '-m', 'immediate', '-s')
      await rm(folder, { recursive: true, force: true })
    },
  }
}

const PASSWORD = 'test'

/** Debian has the programs of each version in a folder that is not in the path. */
function programsFolder(): string {
  const root = '/usr/lib/postgresql'
  const versions = existsSync(root)
    ? readdirSync(root)
        .map(Number)
        .sort((one, other) => other - one)
    : []
  const folder = versions
    .map((version) => join(root, String(version), 'bin'))
    .find((bin) => existsSync(join(bin, 'initdb')) && existsSync(join(bin, 'pg_dump')))
  if (!folder) throw new Error('PostgreSQL is not installed. Install it with: apt-get install postgresql')
  return folder
}

/** The ids of a user of this machine. */
export function accountOf(name: string) {
  const id = (option: string) => Number(execFileSync('id', [option, name], { encoding: 'utf8' }))
  return { uid: id('-u'), gid: id('-g') }
}
