import { spawn } from 'node:child_process'

/** The operating-system user that a program runs as; absent means the user of this process. */
export interface Account {
  uid: number
  gid: number
}

interface RunOptions {
  args: string[]
  account?: Account | undefined
  cwd?: string
  /** On `drop`, the result has no output. */
  output?: 'keep' | 'drop'
  /** Aborted: returns at once, and leaves the program running. */
  signal?: AbortSignal | undefined
}

/** The output of a run that was aborted. */
export const ABORTED = 'It was aborted.'

/** Runs a program until it exits. Rejects only if it cannot be started. */
export async function run(
  file: string,
  { args, account, cwd = '/', output: mode = 'keep', signal }: RunOptions,
): Promise<{ ok: boolean; output: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ ok: boolean; output: string }>()
  const sink = mode === 'drop' ? 'ignore' : 'pipe'
  // A session of its own: Ctrl-C on the terminal must not interrupt a start or a stop.
  const child = spawn(file, args, {
    ...account,
    cwd,
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
  signal?.addEventListener('abort', () => resolve({ ok: false, output: ABORTED }), { once: true })
  child.once('close', (code) => resolve({ ok: code === 0, output: output.trim() }))
  return promise
}

// A minimal environment: the server outlives this process, and /proc/<pid>/environ must not hold our secrets. LC_ALL=C
// keeps PostgreSQL's messages in the English that server.ts parses; TZ saves initdb its search for the time zone.
function environment(): NodeJS.ProcessEnv | undefined {
  if (process.platform === 'win32') return undefined
  return { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C', TZ: 'UTC' }
}
