import { join } from 'node:path'
import pg from 'pg'
import { vi } from 'vitest'
import { backUp } from '../../src/db/embedded/backup.ts'
import { restore } from '../../src/db/embedded/restore.ts'
import { SETTINGS } from './embedded-process.ts'
import { ask, newDirectory, start } from './embedded-servers.ts'

/** What backups in tests say about themselves. */
export const ABOUT = { version: '0.1.0', encryptionKey: null }

export const OPTIONS = { log: { info() {}, warn() {} }, settings: SETTINGS }

/** A database that runs, and a backup that was made of it while its table `kept` got the numbers 1, 2, 3, and so on. */
export async function backedUp() {
  const dataDir = await newDirectory()
  const { connectionString } = await start(dataDir)
  await ask(connectionString, 'CREATE TABLE kept (number int PRIMARY KEY)')
  const writer = await startWriting(connectionString)
  await vi.waitUntil(() => writer.acknowledged() > 50)
  const acknowledgedBefore = writer.acknowledged()
  const file = join(await newDirectory(), 'inlet.tar.gz')
  await backUp({ dataDir, file, about: ABOUT, ...OPTIONS })
  await writer.stop()
  return { dataDir, connectionString, file, acknowledgedBefore }
}

export const restoreInto = (
  dataDir: string,
  { file, movesExisting = false }: { file: string; movesExisting?: boolean },
) => restore({ dataDir, file, movesExisting, ...OPTIONS })

async function startWriting(connectionString: string) {
  const client = new pg.Client({ connectionString })
  await client.connect()
  let acknowledged = 0
  let isStopped = false
  const writing = (async () => {
    while (!isStopped) {
      await client.query('INSERT INTO kept VALUES ($1)', [acknowledged + 1])
      acknowledged++
    }
    await client.end()
  })()
  return {
    acknowledged: () => acknowledged,
    stop() {
      isStopped = true
      return writing
    },
  }
}
