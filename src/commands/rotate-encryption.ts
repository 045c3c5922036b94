import { randomBytes } from 'node:crypto'
import { resolve } from 'node:path'
import type { Config } from '../config.ts'
import {
  beginKeyChange,
  encryptionKeysOf,
  endKeyChange,
  findEncryptionKeys,
} from '../db/embedded/encryption-key.ts'
import type { EmbeddedServer } from '../db/embedded/index.ts'
import { systemClock } from '../lib/clock.ts'
import type { Repositories } from '../repositories/index.ts'
import { countOtherEncryptors, reencryptAll } from '../services/encryption.ts'
import { type Call, print, refuseWords } from './call.ts'
import { onDatabase, RUNNING } from './database.ts'
import { keyNameOf, previousKeyNameOf } from './key-names.ts'

/** `keys rotate-encryption`: encrypts everything with the new key, which it makes if the key is in a file. */
export async function rotateEncryption({ config, words, signal }: Call): Promise<void> {
  refuseWords(words)
  const { databaseUrl, encryptionKey } = config
  const changeOf = databaseUrl || encryptionKey ? changeInEnvironment(config) : changeInFile(config)
  await onDatabase({ config, signal }, async ({ repos, server }) => {
    const change = changeOf({ repos, server })
    const obstacle = (await change.obstacle()) ?? (await change.begin())
    if (obstacle) return obstacle
    const keys = await encryptionKeysOf(config, findEncryptionKeys)
    if (!keys) return `${keyNameOf(config)} is missing.`
    const deps = { repos, keys, clock: systemClock(), randomBytes, signal }
    const { changed, kept, unreadable } = await reencryptAll(deps)
    print(`Encrypted ${changed} stored tokens and secrets with the new key (${kept} had it already).`)
    return unreadable.length > 0 ? undecryptable(unreadable, config) : change.end()
  })
}

/** The steps around the change of what is stored; each returns why it cannot be made. */
interface KeyChange {
  /** Before anything is changed. */
  obstacle(): Promise<string | undefined>
  begin(): Promise<string | undefined>
  end(): Promise<string | undefined>
}

type ChangeOf = (on: { repos: Repositories; server: EmbeddedServer | undefined }) => KeyChange

/** The instances have both keys, and may run. */
function changeInEnvironment(config: Config): ChangeOf {
  const { encryptionKey: key, previousEncryptionKey: previous } = config
  if (!key || !previous || previous.equals(key)) throw new Error(keysMissing(config))
  return ({ repos }) => {
    const obstacle = async () => ((await countOtherEncryptors(repos, [key])) > 0 ? OTHER_KEY : undefined)
    return {
      obstacle,
      begin: async () => undefined,
      async end() {
        // One that started meanwhile may have stored something.
        const refusal = await obstacle()
        if (refusal) return refusal
        print('Remove ENCRYPTION_KEY_PREVIOUS from every instance, and restart them.')
        print(KEEP_PREVIOUS)
        return undefined
      },
    }
  }
}

/** The embedded database, with the key in a file that running instances don't read again. */
function changeInFile(config: Config): ChangeOf {
  const dataDir = resolve(config.dataDir)
  return ({ server }) => {
    const obstacle = async () => ((await server?.isShared()) ? RUNNING : undefined)
    return {
      obstacle,
      async begin() {
        if (!(await findEncryptionKeys(dataDir))) {
          return `${keyNameOf(config)} is missing. Put it back: stored tokens and secrets can't be decrypted without it.`
        }
        await beginKeyChange(dataDir)
        // Again: an instance that is connected may have read the files before. Others read both keys.
        return obstacle()
      },
      async end() {
        const previous = await endKeyChange(dataDir)
        print(`The new key is in ${keyNameOf(config)}. Keep a copy of it in another place.`)
        print(`The previous key is in ${previous}. ${KEEP_PREVIOUS}`)
        return undefined
      },
    }
  }
}

const KEEP_PREVIOUS = 'Keep the previous key as long as you keep backups from before: restoring one needs it.'

const OTHER_KEY =
  'An instance that is running encrypts with another key. Set ENCRYPTION_KEY to the new key and ENCRYPTION_KEY_PREVIOUS to the previous one on every instance, restart them, then run this again.'

function keysMissing({ encryptionKey: key, previousEncryptionKey: previous }: Config): string {
  const problem = !key
    ? 'ENCRYPTION_KEY is not set.'
    : previous
      ? 'ENCRYPTION_KEY_PREVIOUS is the same key as ENCRYPTION_KEY.'
      : 'ENCRYPTION_KEY_PREVIOUS is not set.'
  return `${problem} Set ENCRYPTION_KEY_PREVIOUS to the key that was used until now, and ENCRYPTION_KEY to a new one (openssl rand -hex 32), on every instance. Restart them, then run this again.`
}

function undecryptable(names: string[], config: Config): string {
  return [
    `These can't be decrypted with ${keyNameOf(config)} or ${previousKeyNameOf(config)}, and were left as they are:`,
    ...names.map((name) => `  ${name}`),
    'If you have the key that encrypted them, set ENCRYPTION_KEY_PREVIOUS to it, and run this again. Otherwise, connect these repositories again with a token, replace these secrets, and run this again.',
  ].join('\n')
}
