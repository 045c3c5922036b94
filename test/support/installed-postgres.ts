import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { run } from '../../src/db/embedded/run.ts'
import { CERTIFICATE, PRIVATE_KEY } from './certificate.ts'
import { freePort } from './free-port.ts'
import { temporaryRoot } from './postgres-server.ts'

/** A server of the PostgreSQL that is installed on this machine, for tests of its own programs, and of TLS. */
export async function startInstalledPostgres({ isTlsRequired = false } = {}) {
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
  if (isTlsRequired) await requireTls(data, account)
  const tls = isTlsRequired ? 'on' : 'off'
  const options = `-c port=${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off -c ssl=${tls}`
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
    /** Shown to all connections from now on. */
    async replaceCertificate(certificate: string): Promise<void> {
      await writeFile(join(data, 'server.crt'), certificate)
      await control('pg_ctl', 'reload', '-D', data, '-s')
    },
    async stop(): Promise<void> {
      await control('pg_ctl', 'stop', '-D', data, '-m', 'immediate', '-s')
      await rm(folder, { recursive: true, force: true })
    },
  }
}

const PASSWORD = 'test'

/** As managed servers do: with the certificate of `localhost`, and without any other connections. */
async function requireTls(data: string, account: { uid: number; gid: number } | undefined): Promise<void> {
  const files = {
    'server.crt': CERTIFICATE,
    'server.key': PRIVATE_KEY,
    'pg_hba.conf': 'hostssl all all 127.0.0.1/32 scram-sha-256\n',
  }
  for (const [name, text] of Object.entries(files)) {
    const file = join(data, name)
    await rm(file, { force: true })
    await writeFile(file, text, { mode: 0o600 })
    if (account) await chown(file, account.uid, account.gid)
  }
}

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
