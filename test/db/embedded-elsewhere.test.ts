import { spawnSync } from 'node:child_process'
import { existsSync, readlinkSync, writeFileSync } from 'node:fs'
import { mkdir, readdir, readFile, realpath, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { holdLock } from '../../src/db/embedded/folder-lock.ts'
import { restore } from '../../src/db/embedded/restore.ts'
import { buildDirectory, removeAbandoned } from '../../src/db/embedded/staging.ts'
import { errorElsewhere, kill, startProcess } from '../support/embedded-process.ts'
import { ask, newDirectory, removeEmbedded, serverPid, start } from '../support/embedded-servers.ts'

const log = { info() {}, warn() {} }
const canUnshare = spawnSync('unshare', ['--pid', '--fork', '--mount-proc', 'true']).status === 0

afterAll(removeEmbedded)

// Together, for they wait for a deadline.
describe
  .runIf(process.platform === 'linux')
  .concurrent('a database whose server runs in another container', () => {
    test('gets no second server, although the process ID in its lock file means nothing here', async () => {
      const dataDir = await newDirectory()
      const elsewhere = await startProcess(dataDir)
      await ask(elsewhere.connectionString, 'CREATE TABLE kept AS SELECT 7 AS number')

      await asInAnotherContainer(dataDir, async () => {
        await expect(start(dataDir)).rejects.toThrow(/in use by another container/)
      })

      expect(await ask(elsewhere.connectionString, 'SELECT number FROM kept')).toEqual([{ number: 7 }])
    })

    test('is not renamed by a restore', async () => {
      const dataDir = await newDirectory()
      await startProcess(dataDir)

      await asInAnotherContainer(dataDir, async () => {
        const restoring = restore({ dataDir, file: '/nowhere', movesExisting: true, log })
        await expect(restoring).rejects.toThrow(/is running. Stop Inlet first/)
      })
    })

    test('is completed there, and nobody deletes the folder where it is made', async () => {
      const dataDir = await newDirectory()
      const scratch = join(dataDir, `postgres.new-${UNUSED_PID}-0a0b0c0d`)
      await mkdir(scratch)
      const release = await holdLock(scratch)

      await (await start(dataDir)).stop()
      expect(await readdir(dataDir)).toContain(`postgres.new-${UNUSED_PID}-0a0b0c0d`)

      await release?.()
      await (await start(dataDir)).stop()
      expect(await readdir(dataDir)).toEqual(['postgres'])
    })

    test.runIf(canUnshare)('gets no second server from a container with process IDs of its own', async () => {
      const dataDir = await newDirectory()
      const first = await start(dataDir)

      expect(await errorElsewhere(dataDir)).toMatch(/in use by another container/)

      expect(await ask(first.connectionString, 'SELECT 7 AS number')).toEqual([{ number: 7 }])
    })
  })

describe.concurrent('a database that another host may use over the network', () => {
  test('gets no second server while its heartbeat goes on', async () => {
    const dataDir = await newDirectory()
    const stopBeating = beatElsewhere(await heartbeatOfAnotherHost(dataDir))

    const starting = start(dataDir)

    await expect(starting).rejects.toThrow(/in use by another container or host/)
    stopBeating()
  })

  test('is not renamed by a restore while its heartbeat goes on', async () => {
    const dataDir = await newDirectory()
    const stopBeating = beatElsewhere(await heartbeatOfAnotherHost(dataDir))

    const restoring = restore({ dataDir, file: '/nowhere', movesExisting: true, log })

    await expect(restoring).rejects.toThrow(/is running. Stop Inlet first/)
    stopBeating()
  })

  test('is made in a folder that is kept while its heartbeat goes on', async () => {
    const dataDir = await newDirectory()
    const cluster = join(dataDir, 'postgres')
    const scratch = `${cluster}.new-${UNUSED_PID}-0a0b0c0d`
    await mkdir(scratch)
    await writeFile(join(scratch, 'inlet.lock'), '')
    const stopBeating = beatElsewhere(join(scratch, 'inlet.heartbeat'))

    await removeAbandoned(cluster)
    expect(await readdir(dataDir)).toEqual([basename(scratch)])

    stopBeating()
    await removeAbandoned(cluster)
    expect(await readdir(dataDir)).toEqual([])
  })

  test('has a heartbeat as soon as it is made', async ({ expect }) => {
    const cluster = join(await newDirectory(), 'postgres')
    const fill = async (scratch: string) => {
      await expect.poll(() => readdir(scratch)).toContain('inlet.heartbeat')
      await mkdir(join(scratch, 'data'))
      return join(scratch, 'data')
    }

    await buildDirectory(cluster, { marker: 'PG_VERSION', fill })

    expect(await readdir(cluster)).toEqual([])
  })

  test.runIf(process.platform === 'linux')(
    'has a heartbeat until its server has stopped',
    async ({ expect }) => {
      const dataDir = await newDirectory()
      const killed = await startProcess(dataDir)
      await kill(killed.process)
      const path = join(await realpath(dataDir), 'postgres', 'inlet.heartbeat')
      const atKill = await readFile(path, 'utf8')
      await expect.poll(() => readFile(path, 'utf8')).not.toBe(atKill)

      const server = await start(dataDir)
      expect(await ask(server.connectionString, 'SELECT 7 AS number')).toEqual([{ number: 7 }])
      await server.stop()
      await expect.poll(() => processesIn(dirname(path)), { interval: 100 }).toEqual([])
    },
  )

  test('starts once the heartbeat has stopped', async () => {
    const dataDir = await newDirectory()
    await heartbeatOfAnotherHost(dataDir)

    const server = await start(dataDir)

    expect(await ask(server.connectionString, 'SELECT 7 AS number')).toEqual([{ number: 7 }])
  })
})

/** After it was killed with its server. */
async function heartbeatOfAnotherHost(dataDir: string): Promise<string> {
  const killed = await startProcess(dataDir)
  process.kill(await serverPid(dataDir), 'SIGKILL')
  await kill(killed.process)
  const path = join(await realpath(dataDir), 'postgres', 'inlet.heartbeat')
  await writeFile(path, 'another-host 1')
  return path
}

/** The process IDs of those that work in a folder. */
const processesIn = async (folder: string) =>
  (await readdir('/proc'))
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readlinkSync(`/proc/${pid}/cwd`) === folder
      } catch {
        return false
      }
    })

function beatElsewhere(path: string): () => void {
  const write = () => writeFileSync(path, `another-host ${Date.now()}`)
  write()
  const timer = setInterval(() => existsSync(dirname(path)) && write(), 50)
  return () => clearInterval(timer)
}

/** Meanwhile, the server's lock file is what it is where neither its processes nor its shared memory are visible. */
async function asInAnotherContainer(dataDir: string, act: () => Promise<void>): Promise<void> {
  const path = join(await realpath(dataDir), 'postgres', 'postmaster.pid')
  const original = await readFile(path, 'utf8')
  const changed = original.split('\n').with(0, String(UNUSED_PID)).with(6, '').join('\n')
  await writeFile(path, changed)
  await act()
  expect(await readFile(path, 'utf8')).toBe(changed)
  await writeFile(path, original)
}

/** Above the highest that Linux gives. */
const UNUSED_PID = 4_194_305
