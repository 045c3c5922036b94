import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from './free-port.ts'
import { accountOf } from './installed-postgres.ts'

/** Connections to PostgreSQL: fewer than those of the instances, so that they take turns. */
export const POOL_SIZE = 5

/** The installed PgBouncer in transaction mode, in front of the server of a database. */
export async function startPgBouncer(target: string, settings: Record<string, string> = {}) {
  const program = ['/usr/sbin/pgbouncer', '/usr/local/bin/pgbouncer'].find(existsSync)
  if (!program) throw new Error('PgBouncer is not installed. Install it with: apt-get install pgbouncer')
  const folder = await mkdtemp(join(tmpdir(), 'inlet-pgbouncer-'))
  const port = await freePort()
  const { hostname, port: targetPort, username, password } = new URL(target)
  const file = join(folder, 'pgbouncer.ini')
  const lines = {
    listen_addr: '127.0.0.1',
    listen_port: port,
    unix_socket_dir: '',
    // It logs in as the user of the database's line, whoever asks.
    auth_type: 'any',
    pool_mode: 'transaction',
    default_pool_size: POOL_SIZE,
    max_client_conn: 200,
    query_wait_timeout: 10,
    server_login_retry: 1,
    ...settings,
  }
  await writeFile(
    file,
    [
      '[databases]',
      `* = host=${hostname} port=${targetPort} user=${username} password=${decodeURIComponent(password)}`,
      '[pgbouncer]',
      ...Object.entries(lines).map(([name, value]) => `${name} = ${value}`),
      '',
    ].join('\n'),
    { mode: 0o600 },
  )
  // It refuses to run as root.
  const isRoot = process.getuid?.() === 0
  if (isRoot) {
    const { uid, gid } = accountOf(ACCOUNT)
    for (const path of [folder, file]) await chown(path, uid, gid)
  }
  let running: ChildProcess | undefined

  async function start(): Promise<void> {
    const child = spawn(program ?? '', [...(isRoot ? ['-u', ACCOUNT] : []), '-q', file], { stdio: 'ignore' })
    running = child
    while (!(await accepts(port))) {
      if (child.exitCode !== null) throw new Error(`PgBouncer ended with ${child.exitCode}.`)
      await sleep(10)
    }
  }

  /** At once: its clients lose their connections. */
  async function stop(): Promise<void> {
    const child = running
    running = undefined
    if (!child || child.exitCode !== null) return
    child.kill('SIGTERM')
    await once(child, 'exit')
  }

  await start()
  return {
    /** The same database of its server, through it. */
    urlOf: (connectionString: string) =>
      `postgresql://anybody@127.0.0.1:${port}${new URL(connectionString).pathname}`,
    start,
    stop,
    async close(): Promise<void> {
      await stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

const ACCOUNT = 'postgres'

async function accepts(port: number): Promise<boolean> {
  const socket = connect({ port, host: '127.0.0.1' })
  const isOpen = await once(socket, 'connect').then(
    () => true,
    () => false,
  )
  socket.destroy()
  return isOpen
}
