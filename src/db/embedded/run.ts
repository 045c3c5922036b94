import { spawn } from 'node:child_process'

/** The operating-system user a program runs as; absent means the user of this process. */
export interface Account {
  uid: number
  gid: number
}

/** Runs a program to its end. Rejects only when it cannot be started at all. */
export async function run(
  file: string,
  args: string[],
  options: { account?: Account | undefined; cwd?: string; output?: 'keep' | 'drop' } = {},
): Promise<{ ok: boolean; output: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ ok: boolean; output: string }>()
  const sink = options.output === 'drop' ? 'ignore' : 'pipe'
  // A session of its own: Ctrl-C on the terminal must not cut a start or a stop in half.
  const child = spawn(file, args, {
    ...options.account,
    cwd: options.cwd ?? '/',
    detached: true,
    windowsHide: true,
    env: environment(),
    stdio: ['ignore', sink, sink],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk
    })
  }
  child.once('error', reject)
  child.once('close', (code) => resolve({ ok: code === 0, output: output.trim() }))
  return promise
}

// Small on purpose: the server outlives us, and /proc/<pid>/environ must not keep our secrets. LC_ALL=C keeps
// PostgreSQL's messages in the English that server.ts reads; TZ spares initdb its search for the time zone.
function environment(): NodeJS.ProcessEnv | undefined {
  if (process.platform === 'win32') return undefined
  return { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C', TZ: 'UTC' }
}
