import { randomBytes } from 'node:crypto'
import { link, open, readFile, rename, stat, unlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { explainFileError } from './refusals.ts'
import { syncDirectory } from './staging.ts'

/** The first encrypts; all decrypt. */
type Keys = [Buffer, ...Buffer[]]

/** Where keys come from. */
interface KeySettings {
  /** Of the environment: instead of the one in `dataDir`. */
  encryptionKey: Buffer | undefined
  /** Of the environment: only decrypts. */
  previousEncryptionKey: Buffer | undefined
  /** With a database of its own, there is no key in `dataDir`. */
  databaseUrl: string | undefined
  dataDir: string
}

const FORM = /^[0-9a-f]{64}\s*$/

/** All keys of an instance. */
export async function encryptionKeysOf(
  { encryptionKey, previousEncryptionKey: previous, databaseUrl, dataDir }: KeySettings,
  read: (dataDir: string) => Promise<Keys | undefined> = encryptionKeysIn,
): Promise<Keys | undefined> {
  const keys: Keys | undefined = encryptionKey
    ? [encryptionKey]
    : databaseUrl
      ? undefined
      : await read(dataDir)
  return keys && previous ? [...keys, previous] : keys
}

/**
 * The keys that encrypt secrets in the embedded database: one, created once, beside the data, readable by its owner
 * only; and the previous one while it is being replaced. Instances that start at the same time use the same key.
 */
export async function encryptionKeysIn(dataDir: string): Promise<Keys> {
  const file = encryptionKeyFile(dataDir)
  if ((await read(file)) === undefined) await make(file)
  const keys = await findEncryptionKeys(dataDir)
  if (!keys) throw new Error(`${file} was removed`)
  return keys
}

/** The same if it was created already. */
export async function findEncryptionKeys(dataDir: string): Promise<Keys | undefined> {
  const file = encryptionKeyFile(dataDir)
  const text = await read(file)
  if (text === undefined) return undefined
  const previous = await read(previousKeyFile(dataDir))
  const keys: Keys = [keyOf(text, file)]
  return previous === undefined ? keys : [...keys, keyOf(previous, previousKeyFile(dataDir))]
}

/**
 * Makes a new key, which encrypts from now on; the previous one decrypts until `endKeyChange`. Continues a change that was
 * interrupted: after a power failure at any time, the files have the key of everything that is stored. Not for two
 * processes at the same time.
 */
export async function beginKeyChange(dataDir: string): Promise<Keys> {
  const file = encryptionKeyFile(dataDir)
  const [key, previous] = await encryptionKeysIn(dataDir)
  if (previous && !previous.equals(key)) return [key, previous]
  if (!previous) await replace(previousKeyFile(dataDir), { key, like: file })
  const fresh = randomBytes(32)
  await replace(file, { key: fresh, like: file })
  return [fresh, key]
}

/** Ends the use of the previous key, when nothing needs it any more. Returns the file that keeps it for old backups. */
export async function endKeyChange(dataDir: string): Promise<string> {
  const time = new Date().toISOString().replaceAll(/[-:.]/g, '')
  const kept = `${encryptionKeyFile(dataDir)}.before-${time}`
  await rename(previousKeyFile(dataDir), kept)
  await syncDirectory(dataDir)
  return kept
}

export const encryptionKeyFile = (dataDir: string) => join(dataDir, 'encryption.key')

/** There while the key is being changed. */
export const previousKeyFile = (dataDir: string) => `${encryptionKeyFile(dataDir)}.previous`

function keyOf(text: string, file: string): Buffer {
  if (!FORM.test(text)) {
    throw new Error(
      `${file} does not hold a key: put a copy of it back. If there is none, see "If the encryption key is lost" in docs/operating.md`,
    )
  }
  return Buffer.from(text.trim(), 'hex')
}

const textOf = (key: Buffer) => `${key.toString('hex')}\n`

/** Written to another name and linked, so that nobody reads a partial key, and the first of several processes wins. */
async function make(file: string): Promise<void> {
  const draft = `${file}.${randomBytes(6).toString('hex')}`
  await writeFile(draft, textOf(randomBytes(32)), { mode: 0o600, flag: 'wx', flush: true })
  try {
    await link(draft, file)
    await syncDirectory(dirname(file))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    await unlink(draft)
  }
}

/** Durable when it returns. A draft that a killed process left is overwritten. */
async function replace(file: string, { key, like }: { key: Buffer; like: string }): Promise<void> {
  const draft = `${encryptionKeyFile(dirname(file))}.new`
  const { uid, gid } = await stat(like)
  const handle = await open(draft, 'w', 0o600)
  try {
    // For a command that root runs: the service may be another user.
    if (process.getuid?.() === 0) await handle.chown(uid, gid)
    await handle.writeFile(textOf(key))
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(draft, file)
  await syncDirectory(dirname(file))
}

async function read(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw explainFileError(error, file)
  }
}
