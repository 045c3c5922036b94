import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { BEAT } from './heartbeat.ts'
import { type Account, run } from './run.ts'

/**
 * The file in a folder on which the kernel holds a lock, by flock(1): process IDs mean nothing in another container,
 * which may run on the same folder. Only Linux has such containers, and flock(1): elsewhere, process IDs decide. Other
 * hosts see the heartbeat of the folder.
 */
export const LOCK_NAME = 'inlet.lock'

interface Program {
  file: string
  args: string[]
}

/**
 * Runs the program only if it gets the lock of the folder. What it starts inherits the lock, so that it lasts until
 * the last of these processes has ended, also after this one has.
 */
export function underLock(folder: string, { file, args }: Program): Program {
  if (!isSupported) return { file, args }
  return {
    file: '/bin/sh',
    args: ['-c', `${TAKE}\n${BEAT}\nexec "$@"`, join(folder, LOCK_NAME), file, ...args],
  }
}

/** What `underLock` prints where a process, of this or another container, has the lock. */
export const LOCKED = 'the folder is locked'

export async function isLocked(folder: string, account?: Account): Promise<boolean> {
  const path = join(folder, LOCK_NAME)
  if (!isSupported || !existsSync(path)) return false
  return (await run('/bin/sh', { args: ['-c', TAKE, path], account })).output === LOCKED
}

/** Takes the lock until `release` is called or this process ends. Undefined if another process has it. */
export async function holdLock(folder: string): Promise<(() => Promise<void>) | undefined> {
  if (!isSupported) return async () => undefined
  // cat ends with this process, because nobody else has the other end of the pipe.
  const holder = spawn('/bin/sh', ['-c', `${TAKE}\n${BEAT}\necho held; exec cat`, join(folder, LOCK_NAME)], {
    detached: true,
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  const ended = new Promise<void>((resolve) => holder.once('close', () => resolve()))
  const { promise: printed, resolve, reject } = Promise.withResolvers<string>()
  holder.once('error', reject)
  holder.stdout.setEncoding('utf8').once('data', (text: string) => resolve(text.trim()))
  holder.once('close', () => resolve(''))
  if ((await printed) !== 'held') return undefined
  return () => {
    holder.stdin.end()
    return ended
  }
}

const isSupported =
  process.platform === 'linux' && ['/usr/bin/flock', '/bin/flock'].some((path) => existsSync(path))

// Opened for writing, without which network file systems don't lock.
const TAKE = `exec 9<>"$0" || exit; flock -n 9 || { echo '${LOCKED}'; exit 1; }`
