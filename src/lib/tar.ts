import { Header } from 'tar'

/** A file of an archive, or a directory if its path ends with a slash. */
export interface TarEntry {
  path: string
  size: number
  /** Exactly `size` bytes. */
  content: AsyncIterable<Buffer>
}

/** The bytes of an archive. Takes the next entry when the content of the previous one was read. */
export async function* packTar(entries: AsyncIterable<TarEntry>): AsyncGenerator<Buffer> {
  for await (const { path, size, content } of entries) {
    yield headerOf(path, size)
    yield* content
    yield Buffer.alloc(paddingOf(size))
  }
  yield Buffer.alloc(2 * BLOCK)
}

/**
 * The entries of an archive made by `packTar`. The content of each has to be read before the next one is taken.
 * @throws Error if it is damaged, or ends too early
 */
export async function* unpackTar(bytes: AsyncIterable<Buffer>): AsyncGenerator<TarEntry> {
  const source = bytes[Symbol.asyncIterator]()
  const read = readerOf(source)
  for (;;) {
    const header = parsedHeader(await concat(read(BLOCK)))
    if (header?.nullBlock) break
    if (!header?.cksumValid || !header.path || !TYPES.includes(header.type))
      throw new Error('It is not a valid archive.')
    const { path, size = 0 } = header
    yield { path, size, content: read(size) }
    await concat(read(paddingOf(size)))
  }
  // To the end: a decompressor compares its checksum there.
  while (!(await source.next()).done);
}

/** The content of an entry that is small. */
export async function concat(content: AsyncIterable<Buffer>): Promise<Buffer> {
  const pieces: Buffer[] = []
  for await (const piece of content) pieces.push(piece)
  return Buffer.concat(pieces)
}

const BLOCK = 512
const TYPES = ['File', 'Directory']

const paddingOf = (size: number) => (BLOCK - (size % BLOCK)) % BLOCK

function headerOf(path: string, size: number): Buffer {
  const isDirectory = path.endsWith('/')
  const header = new Header({
    path,
    size,
    type: isDirectory ? 'Directory' : 'File',
    mode: isDirectory ? 0o700 : 0o600,
    uid: 0,
    gid: 0,
    mtime: new Date(),
  })
  // Paths that do not fit would need a second header.
  if (header.encode() || !header.block) throw new Error(`The path ${path} is too long for an archive.`)
  return header.block
}

/** Returns undefined for bytes that are no header. */
function parsedHeader(block: Buffer): Header | undefined {
  try {
    return new Header(block)
  } catch {
    // Thrown for invalid numbers.
    return undefined
  }
}

/** Returns a function that reads the next bytes, in pieces. */
function readerOf(source: AsyncIterator<Buffer>) {
  let rest: Buffer = Buffer.alloc(0)
  return async function* read(size: number): AsyncGenerator<Buffer> {
    for (let left = size; left > 0; ) {
      if (rest.length === 0) {
        const next = await source.next()
        if (next.done) throw new Error('It ends too early.')
        rest = next.value
      }
      const piece = rest.subarray(0, left)
      rest = rest.subarray(piece.length)
      left -= piece.length
      yield piece
    }
  }
}
