import { hash } from 'node:crypto'
import { resolve } from 'node:path'
import type { Config } from '../config.ts'
import {
  encryptionKeyFile,
  encryptionKeysOf,
  findEncryptionKeys,
  previousKeyFile,
} from '../db/embedded/encryption-key.ts'

/** Where the key is. */
export const keyNameOf = ({ encryptionKey, databaseUrl, dataDir }: Config) =>
  encryptionKey || databaseUrl ? 'ENCRYPTION_KEY' : encryptionKeyFile(resolve(dataDir))

/** Where the previous one is, while the key is being changed. */
export const previousKeyNameOf = ({ previousEncryptionKey, dataDir }: Config) =>
  previousEncryptionKey ? 'ENCRYPTION_KEY_PREVIOUS' : previousKeyFile(resolve(dataDir))

/** SHA-256 of each key; the first is of the one that encrypts. */
export async function keyDigestsOf(config: Config): Promise<string[]> {
  const keys = (await encryptionKeysOf(config, findEncryptionKeys)) ?? []
  return keys.map((key) => hash('sha256', key))
}
