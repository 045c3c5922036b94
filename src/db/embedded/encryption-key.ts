import { randomBytes } from 'node:crypto'
import { link, readFile, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

const FORM = /^[0-9a-f]{64}\s*$/

/**
 * The key that encrypts secrets in the embedded database: created once, beside the data, readable by its owner only.
 * Instances that start at the same time use the same key.
 */
export async function encryptionKeyIn(dataDir: string): Promise<Buffer> {
  const file = encryptionKeyFile(dataDir)
  return keyOf((await read(file)) ?? (await make(file)), file)
}

/** The same if it was created already. */
export async function findEncryptionKey(dataDir: string): Promise<Buffer | undefined> {
  const file = encryptionKeyFile(dataDir)
  const text = await read(file)
  return text === undefined ? undefined : keyOf(text, file)
}

export const encryptionKeyFile = (dataDir: string) => join(dataDir, 'encryption.key')

function keyOf(text: string, file: string): Buffer {
  if (!FORM.test(text)) {
    throw new Error(`${file} does not hold a key: restore it, or remove it and connect repositories anew`)
  }
  return Buffer.from(text.trim(), 'hex')
}

/** Written to another name and renamed, so that nobody reads a partial key. */
async function make(file: string): Promise<string> {
  const draft = `${file}.${randomBytes(6).toString('hex')}`
  await writeFile(draft, `${randomBytes(32).toString('hex')}\n`, { mode: 0o600, flag: 'wx' })
  try {
    await link(draft, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    await unlink(draft)
  }
  return readFile(file, 'utf8')
}

async function read(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
