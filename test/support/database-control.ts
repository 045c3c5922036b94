import { readFile, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { run } from '../../src/db/embedded/run.ts'

/**
 * The embedded server of this folder, as an administrator stops it: `fast` rolls back open transactions, `immediate`
 * leaves all as it is, for recovery at the next start.
 */
export const stopDatabase = (dataDir: string, mode: 'fast' | 'immediate' = 'fast') =>
  control(dataDir, 'stop', '-m', mode)

/** On the port it had. */
export const startDatabase = (dataDir: string) => control(dataDir, 'restart', '-l', 'server.log')

async function control(dataDir: string, ...args: string[]): Promise<void> {
  const cluster = join(dataDir, 'postgres')
  const { uid, gid } = await stat(cluster)
  const account = process.getuid?.() === 0 ? { account: { uid, gid } } : {}
  const [server = ''] = (await readFile(join(cluster, 'postmaster.opts'), 'utf8')).split(' "')
  const { ok } = await run(join(dirname(server), 'pg_ctl'), {
    args: [...args, '-D', '.', '-w', '-s'],
    ...account,
    cwd: cluster,
    output: 'drop',
  })
  if (!ok) throw new Error(`pg_ctl ${args.join(' ')} failed.`)
}
