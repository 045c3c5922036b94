import { readdir, readFile, readlink } from 'node:fs/promises'

/**
 * Kills what a killed server left at work: a statement that computes does not notice, and until it ends no server
 * starts on the same files. Recovery treats it like the crash it follows. Outside of Linux nothing is found, and they
 * end with their statements.
 */
export async function killOrphans(cluster: string): Promise<void> {
  const names = await readdir('/proc').catch(() => [])
  for (const pid of names.map(Number).filter((number) => number > 0)) {
    if (!(await isWorkerOf(cluster, pid))) continue
    // The server's own processes are titled "postgres: what they do"; the server itself is not.
    const parent = await parentOf(pid)
    if (parent === undefined || (await isServer(parent))) continue
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It was faster, or belongs to somebody else.
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
