import { readFile, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { run } from '../../src/db/embedded/run.ts'

/** The embedded server of this folder, as an administrator stops it: open transactions are rolled back. */
export const stopDatabase = (dataDir: string) => control(dataDir, 'stop', '-m', 'fast')

/** On the port it had. */
export const startDatabase = (dataDir: string) => control(dataDir, 'restart', '-l', 'server.log')

async function control(dataDir: string, ...args: string[]): Promise<void> {
  const cluster = join(dataDir, 'postgres')
  const { uid, gid } = await stat(cluster)
  const account = process.getuid?.() === 0 ? { account: { uid, gid } } : {}
  const [server = ''] = (await readFile(join(cluster, 'postmaster.opts'), 'utf8')).split(' "')
  const { ok } = await run(join(dirname(server), 'pg_ctl'), [...args, '-D', '.', '-w', '-s'], {
    ...account,
    cwd: cluster,
    output: 'drop',
  })
  if (!ok) throw new Error(`pg_ctl ${args.join(' ')} failed.`)
}
