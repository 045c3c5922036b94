import { createHash, randomUUID } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import { describeNetworkError } from '../../src/clients/network-error.ts'

const CENTRAL = 'https://repo1.maven.org/maven2'
const FOLDER = fileURLToPath(new URL('../../node_modules/.cache/maven', import.meta.url))
const DEADLINE_MS = 10 * 60_000

interface MavenFile {
  path: string
  sha256: string
}

interface Place {
  /** A mirror may be closer. */
  repository?: string
  folder?: string
}

/**
 * A file of Maven's repository, fetched once; or why the repository cannot be reached.
 * @throws Error when it can be reached, and has another file or none.
 */
export async function fetchFromMaven(
  { path, sha256 }: MavenFile,
  { repository = process.env.MAVEN_REPOSITORY ?? CENTRAL, folder = FOLDER }: Place = {},
): Promise<{ archive: string } | { unavailable: string }> {
  const archive = join(folder, basename(path))
  if ((await sha256Of(archive)) === sha256) return { archive }
  await mkdir(folder, { recursive: true })
  const partial = `${archive}.${randomUUID()}`
  try {
    await pipeline(bytesAt(`${repository}/${path}`), createWriteStream(partial))
    if ((await sha256Of(partial)) !== sha256) throw new Error(`${repository}/${path} has another checksum.`)
    await rename(partial, archive)
    return { archive }
  } catch (error) {
    if (error instanceof Unreachable) return { unavailable: `Maven cannot be reached: ${error.message}` }
    throw error
  } finally {
    await rm(partial, { force: true })
  }
}

class Unreachable extends Error {}

/** Without an error of the reader's among those of the network. */
async function* bytesAt(url: string): AsyncGenerator<Uint8Array> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(DEADLINE_MS) })
    if (response.status === 404) throw new Error(`${url} does not exist.`)
    if (!response.ok || !response.body) throw new Unreachable(`it responded with ${response.status}.`)
    yield* response.body
  } catch (error) {
    const isOfNetwork = error instanceof TypeError || (error as Error).name === 'TimeoutError'
    throw isOfNetwork ? new Unreachable(describeNetworkError(error)) : error
  }
}

async function sha256Of(file: string): Promise<string | undefined> {
  const hash = createHash('sha256')
  try {
    await pipeline(createReadStream(file), hash)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  return hash.digest('hex')
}
