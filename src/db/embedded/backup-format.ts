import { createHash, type Hash } from 'node:crypto'
import { concat, type TarEntry } from '../../lib/tar.ts'

/** What a backup says about itself, in its first entry. */
export interface BackupHeader {
  format: number
  createdAt: string
  /** Of Inlet. */
  version: string
  /** The major version of the server. */
  postgresql: number
  /** The size of the files when the backup began. */
  bytes: number
  /** SHA-256 of the key that encrypts secrets in the database. The backup does not contain the key. */
  encryptionKey: string | null
  /** The same of other keys that it needs: only if it was made while the key was being changed. */
  previousEncryptionKeys?: string[]
}

/** The format that this code writes and reads. */
export const FORMAT = 1

/** The entries of a backup: its header, the files, and a digest of both. */
export async function* seal(header: BackupHeader, files: AsyncIterable<TarEntry>): AsyncGenerator<TarEntry> {
  const hash = createHash('sha256')
  yield digested(jsonEntry(HEADER, header), hash)
  for await (const file of files) yield digested(file, hash)
  yield jsonEntry(SEAL, { sha256: hash.digest('hex') })
}

/**
 * Reads what `seal` wrote. Each file has to be read before the next one is taken; the last one is followed by the check
 * of the digest.
 * @throws Error that says what is wrong with the backup
 */
export async function unseal(entries: AsyncIterator<TarEntry>) {
  const hash = createHash('sha256')
  const first = await entries.next()
  if (first.done || first.value.path !== HEADER) throw new Error('It is not a backup of Inlet.')
  // Cast: `seal` wrote it, and its format is checked next.
  const header = (await jsonOf(digested(first.value, hash))) as BackupHeader
  if (header.format !== FORMAT) {
    throw new Error(`It was made by Inlet ${header.version}, whose backups this version cannot read.`)
  }
  return { header, files: files() }

  async function* files(): AsyncGenerator<TarEntry> {
    let digest: unknown
    for (let next = await entries.next(); !next.done; next = await entries.next()) {
      if (next.value.path === SEAL) digest = await jsonOf(next.value)
      else yield digested(next.value, hash)
    }
    if (!digest) throw new Error('It is incomplete.')
    // Cast: `seal` wrote it, or it differs.
    if ((digest as { sha256: string }).sha256 !== hash.digest('hex')) throw new Error('It is damaged.')
  }
}

/** An entry with this content. */
export function entryOf(path: string, content: Buffer): TarEntry {
  return { path, size: content.length, content: piecesOf([content]) }
}

const HEADER = 'backup.json'
const SEAL = 'digest.json'

const jsonEntry = (path: string, value: object) =>
  entryOf(path, Buffer.from(`${JSON.stringify(value, undefined, 2)}\n`))

async function jsonOf({ content }: TarEntry): Promise<unknown> {
  return JSON.parse((await concat(content)).toString())
}

function digested({ path, size, content }: TarEntry, hash: Hash): TarEntry {
  hash.update(`${path}\n${size}\n`)
  return { path, size, content: digestedPieces(content, hash) }
}

async function* digestedPieces(content: AsyncIterable<Buffer>, hash: Hash): AsyncGenerator<Buffer> {
  for await (const piece of content) {
    hash.update(piece)
    yield piece
  }
}

async function* piecesOf(buffers: Buffer[]): AsyncGenerator<Buffer> {
  yield* buffers
}
