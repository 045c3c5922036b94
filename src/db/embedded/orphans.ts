import { readdir, readFile, readlink } from 'node:fs/promises'

/**
 * Kills the backends of a killed server: one that is executing a statement does not detect it, and until it ends no
 * server can start on the same files. Recovery treats this like the crash it follows. Works on Linux only; elsewhere
 * they end with their statements.
 */
export async function killOrphans(cluster: string): Promise<void> {
  const names = await readdir('/proc').catch(() => [])
  for (const pid of names.map(Number).filter((number) => number > 0)) {
    if (!(await isWorkerOf(cluster, pid))) continue
    // Backends have the process title "postgres: <activity>"; the server itself has not.
    const parent = await parentOf(pid)
    if (parent === undefined || (await isServer(parent))) continue
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It has ended already, or belongs to another user.
    }
  }
}

async function isWorkerOf(cluster: string, pid: number): Promise<boolean> {
  if (!(await commandLineOf(pid)).startsWith('postgres: ')) return false
  return (await readlink(`/proc/${pid}/cwd`).catch(() => undefined)) === cluster
}

async function isServer(pid: number): Promise<boolean> {
  return /(^|\/)postgres\0/.test(await commandLineOf(pid))
}

async function parentOf(pid: number): Promise<number | undefined> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  const parent = Number(/^PPid:\s*(\d+)$/m.exec(status)?.[1])
  return Number.isInteger(parent) ? parent : undefined
}

async function commandLineOf(pid: number): Promise<string> {
  return readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
}
