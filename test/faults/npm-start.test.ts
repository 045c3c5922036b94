import { chown, mkdir } from 'node:fs/promises'
import { afterAll, describe, test } from 'vitest'
import { canRunAs } from '../support/embedded-process.ts'
import { cleanUp, newDataDir, send, serverPid } from '../support/inlet-process.ts'
import { killNpm, spawnNpm } from '../support/npm.ts'

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

const servers: number[] = []

afterAll(async () => {
  killNpm()
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
        const npm = start(each, { DATA_DIR: dataDir })
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
      const npm = start(each, { PORT: '70000' })

      expect((await npm.ended).code).toBe(1)

      expect(npm.output().match(/^Inlet cannot start/gm)).toHaveLength(1)
    },
  )
})

const start = ({ shell, user }: { shell: string; user: User }, env: Record<string, string>) =>
  spawnNpm(['start', `--script-shell=${shell}`], { env, user })

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
