import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** The resident memory of a process, in bytes. Linux only. */
export function memoryOf(pid: number | undefined): number {
  const kib = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Number(kib) * 1024
}

/** The peak memory of a process while the work is done. */
export async function peakMemoryOf<T>(pid: number | undefined, work: () => Promise<T>) {
  let peak = memoryOf(pid)
  const timer = setInterval(() => {
    peak = Math.max(peak, memoryOf(pid))
  }, 20)
  try {
    const result = await work()
    return { peak: Math.max(peak, memoryOf(pid)), result }
  } finally {
    clearInterval(timer)
  }
}

/** How many sockets a process has open. Linux only. */
export function connectionsOf(pid: number | undefined): number {
  const directory = `/proc/${pid}/fd`
  return readdirSync(directory).filter((name) => isSocket(`${directory}/${name}`)).length
}

function isSocket(path: string): boolean {
  try {
    return readlinkSync(path).startsWith('socket:')
  } catch {
    // Closed meanwhile.
    return false
  }
}
