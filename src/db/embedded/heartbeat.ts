import { readFileSync } from 'node:fs'
import { readFile, rm, stat, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/**
 * A file that changes as long as a process of some host has the lock of its folder: on network storage, another host's
 * kernel may not share its locks.
 */
export const HEARTBEAT_NAME = 'inlet.heartbeat'

/** Waits for some seconds if another host may have been killed, or this one restarted, a short time ago. */
export async function isUsedByAnotherHost(cluster: string): Promise<boolean> {
  const path = join(cluster, HEARTBEAT_NAME)
  const first = await read(path)
  if (!first || first.startsWith(`${HOST} `) || (await isStale(path))) return false
  for (const deadline = Date.now() + WAIT_MS; Date.now() < deadline; await sleep(POLL_MS)) {
    if ((await read(path)) !== first) return true
  }
  return false
}

const BEAT_SECONDS = 2
const POLL_MS = 100
const WAIT_MS = 3_000 * BEAT_SECONDS
const STALE_MS = 60_000

// Containers of one host have names of their own, but its kernel, whose locks they share.
const HOST = hostId()

function hostId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  } catch {
    return hostname()
  }
}

// Compared with a file that is written now: the storage may have another clock.
async function isStale(path: string): Promise<boolean> {
  const now = `${path}.now`
  await writeFile(now, '')
  const [last, current] = await Promise.all([stat(path), stat(now)])
  await rm(now, { force: true })
  return current.mtimeMs - last.mtimeMs > STALE_MS
}

const read = (path: string) => readFile(path, 'utf8').catch(() => '')

/**
 * For a shell: writes the file beside the lock file, `$0`, in the background, until nobody else has the lock. Its own
 * process, because a server outlives the process that started it if that is killed. The text never gets shorter, so
 * that it is whole at any time.
 */
export const BEAT = `(
  exec 8<>"$0" 9>&- </dev/null >/dev/null 2>&1
  cd "$(dirname "$0")" && rm -f ${HEARTBEAT_NAME}
  beats=$$
  until flock -n 8; do
    beats=$((beats + 1))
    echo '${HOST}' $beats 1<>${HEARTBEAT_NAME}
    sleep ${BEAT_SECONDS}
  done
) &`
