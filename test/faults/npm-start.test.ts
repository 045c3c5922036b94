import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chown, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, test } from 'vitest'
import { canRunAs } from '../support/embedded-process.ts'
import { cleanUp, newDataDir, send, serverPid } from '../support/inlet-process.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
/** npm itself passes on the first two. */
const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const
/** npm starts scripts with `sh`: dash on Debian, bash elsewhere. */
const SHELLS = ['/bin/dash', '/bin/bash']

interface User {
  uid?: number
  gid?: number
}

const NOBODY = 65_534
const USERS: { name: string; user: User }[] = [{ name: 'who runs the tests', user: {} }]
if (process.getuid?.() === 0 && canRunAs(NOBODY)) {
  USERS.push({ name: 'without rights', user: { uid: NOBODY, gid: NOBODY } })
}

const processes: ChildProcess[] = []
const servers: number[] = []

afterAll(async () => {
  for (const npm of processes.splice(0)) npm.kill('SIGKILL')
  for (const pid of servers.splice(0)) send(pid, 'SIGKILL')
  await cleanUp()
})

describe('npm start', () => {
  const cases = USERS.flatMap((user) => SHELLS.map((shell) => ({ shell, ...user })))

  test.concurrent.for(cases)(
    'ends the service when npm gets a signal: $shell, user $name',
    async (each, { expect }) => {
      const dataDir = await newDataDir()
      await mkdir(dataDir, { mode: 0o700 })
      if (each.user.uid) await chown(dataDir, each.user.uid, each.user.uid)
      for (const signal of SIGNALS) {
        const npm = spawnNpm(each, { DATA_DIR: dataDir })
        await expect.poll(npm.output, { timeout: 60_000 }).toContain('Inlet is running at ')
        const pid = Number(/"pid":(\d+)/.exec(npm.output())?.[1])
        servers.push(pid)

        npm.process.kill(signal)

        // Its last step, after every response.
        await expect
          .poll(npm.output, { timeout: 60_000, message: signal })
          .toContain('embedded database stopped')
        await expect.poll(() => isAlive(pid), { timeout: 60_000, message: signal }).toBe(false)
        expect(await serverPid(dataDir)).toBeUndefined()
      }
    },
  )

  test.concurrent.for(cases)(
    'fails once where the service cannot start: $shell, user $name',
    async (each, { expect }) => {
      const npm = spawnNpm(each, { PORT: '70000' })

      expect((await once(npm.process, 'close'))[0]).toBe(1)

      expect(npm.output().match(/^Inlet cannot start/gm)).toHaveLength(1)
    },
  )
})

function spawnNpm({ shell, user }: { shell: string; user: User }, env: Record<string, string>) {
  const home = env.DATA_DIR ?? '/nonexistent'
  const child = spawn('npm', ['start', `--script-shell=${shell}`], {
    ...user,
    cwd: ROOT,
    // Nothing of the npm that runs the tests.
    env: {
      PATH: process.env.PATH,
      HOME: home,
      npm_config_cache: join(home, 'npm'),
      npm_config_update_notifier: 'false',
      PORT: '0',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  processes.push(child)
  let written = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      written += text
    })
  }
  return { process: child, output: () => written }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
