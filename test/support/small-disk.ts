import { execFileSync } from 'node:child_process'
import { mkdir, open, rm } from 'node:fs/promises'
import { join } from 'node:path'

/** A disk of its own for a data directory, that can be filled. */
export interface SmallDisk {
  /** What Inlet is started by: for an ordinary user, a program that mounts the disk where nobody else sees it. */
  wrapper: string[]
  /** The data directory as it is seen from here. `pid` is Inlet's. */
  path(pid: number): string
  /** Takes all space there is. */
  fill(pid: number): Promise<void>
  /** Gives it back. */
  free(pid: number): Promise<void>
  unmount(): void
}

/**
 * A tmpfs at `dataDir`. Root mounts it; an ordinary user mounts it in a user namespace, which needs unshare of
 * util-linux 2.38 or newer and a kernel that lets ordinary users make namespaces.
 */
export async function smallDisk(dataDir: string, megabytes: number): Promise<SmallDisk> {
  await mkdir(dataDir, { recursive: true })
  const isRoot = process.getuid?.() === 0
  const options = `size=${megabytes}m,mode=711`
  if (isRoot) execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', dataDir])
  const path = (pid: number) => (isRoot ? dataDir : join(`/proc/${pid}/root`, dataDir))
  // PostgreSQL refuses to run as root: inside, the user becomes an ordinary one again.
  const script = `mount -t tmpfs -o ${options} tmpfs "$0" && exec unshare --user --map-user=1000 --map-group=1000 "$@"`
  return {
    wrapper: isRoot ? [] : ['unshare', '--user', '--map-root-user', '--mount', 'sh', '-c', script, dataDir],
    path,
    async fill(pid) {
      const file = await open(join(path(pid), 'filler'), 'w')
      for (const size of [1 << 20, 4_096]) {
        const piece = Buffer.alloc(size)
        while (await file.write(piece).then(({ bytesWritten }) => bytesWritten === size, isFull));
      }
      await file.close()
    },
    free: (pid) => rm(join(path(pid), 'filler')),
    unmount() {
      if (isRoot) execFileSync('umount', ['--lazy', dataDir])
    },
  }
}

function isFull(error: NodeJS.ErrnoException): false {
  if (error.code === 'ENOSPC') return false
  throw error
}
