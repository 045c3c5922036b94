import { constants, setPriority } from 'node:os'
import { resolve } from 'node:path'
import type { Config } from '../config.ts'
import { backUp } from '../db/embedded/backup.ts'
import { restore } from '../db/embedded/restore.ts'
import { VERSION } from '../lib/version.ts'
import { type Call, LOG, print, usage } from './call.ts'
import { keyDigestsOf, keyNameOf, previousKeyNameOf } from './key-names.ts'

/** `backup`. */
export async function backup({ config, signal, ...call }: Call): Promise<void> {
  refuseOtherDatabase(config, 'pg_dump')
  // Requests come first.
  setPriority(constants.priority.PRIORITY_BELOW_NORMAL)
  const file = fileOf(call)
  const [key = null, ...previous] = await keyDigestsOf(config)
  const hasPrevious = previous.length > 0
  const bytes = await backUp({
    dataDir: config.dataDir,
    file,
    about: {
      version: VERSION,
      encryptionKey: key,
      ...(hasPrevious && { previousEncryptionKeys: previous }),
    },
    log: LOG,
    signal,
  })
  print(`The backup is in ${file} (${Math.ceil(bytes / 2 ** 20)} MB).`)
  if (key) {
    print(
      `It doesn't contain the encryption key. Keep a copy of ${keyNameOf(config)} in another place: without it, stored tokens and secrets can't be decrypted.`,
    )
  }
  if (hasPrevious) {
    print(
      `The key is being changed, so the backup may also need the previous one: keep a copy of ${previousKeyNameOf(config)} as well.`,
    )
  }
}

/** `restore`. */
export async function restoreBackup({ config, options, signal, ...call }: Call): Promise<void> {
  refuseOtherDatabase(config, 'pg_restore')
  const { dataDir } = config
  const file = fileOf(call)
  const movesExisting = options['move-existing']
  const { header, movedTo } = await restore({ dataDir, file, movesExisting, log: LOG, signal })
  print(`Restored the database in ${resolve(dataDir)}, as it was at ${header.createdAt}.`)
  if (movedTo) print(`The previous database is in ${movedTo}.`)
  print(
    'The next start turns off what Inlet sends to other systems, such as write-back. You can turn it on again.',
  )
  const keys = await keyDigestsOf(config)
  const { encryptionKey, previousEncryptionKeys = [] } = header
  const needed = [encryptionKey, ...previousEncryptionKeys].filter((key) => key !== null)
  if (needed.every((key) => keys.includes(key))) return
  print(
    `${keyNameOf(config)} ${keys.length > 0 ? 'is not the key that the backup was made with' : 'is missing'}. Before you start Inlet, put the key of the backup there: without it, stored tokens and secrets can't be decrypted.`,
  )
  if (keys.length === 0) return
  print(
    'If you changed the key since then, set ENCRYPTION_KEY_PREVIOUS to the key of the backup instead, and run "npm run keys -- rotate-encryption" to change it in the restored database as well.',
  )
}

function refuseOtherDatabase({ databaseUrl }: Config, program: string): void {
  if (databaseUrl === undefined) return
  throw new Error(`This is for the embedded database only, and DATABASE_URL is set. Use ${program}.`)
}

function fileOf({ words: [file, ...others], folder }: Pick<Call, 'words' | 'folder'>): string {
  if (!file || others.length > 0) throw usage()
  return resolve(folder, file)
}
