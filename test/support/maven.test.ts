import { createHash } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { freePort } from './free-port.ts'
import { fetchFromMaven } from './maven.ts'

const TEXT = 'an archive'
const FILE = { path: 'org/some/file.tar.gz', sha256: createHash('sha256').update(TEXT).digest('hex') }

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'inlet-maven-'))
})
afterEach(() => rm(folder, { recursive: true }))

/** A repository that responds in this way. */
async function repositoryWith(listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const fetchFrom = (repository: string) => fetchFromMaven(FILE, { repository, folder })

describe('a file of Maven', () => {
  test('is fetched once, and again when it was damaged', async () => {
    const requested: (string | undefined)[] = []
    const repository = await repositoryWith(({ url }, response) => {
      requested.push(url)
      response.end(TEXT)
    })
    const archive = join(folder, 'file.tar.gz')
    expect(await fetchFrom(repository)).toEqual({ archive })
    expect(await fetchFrom(repository)).toEqual({ archive })
    expect(requested).toEqual([`/${FILE.path}`])

    await writeFile(archive, 'half an ar')
    expect(await fetchFrom(repository)).toEqual({ archive })
    expect(await readFile(archive, 'utf8')).toBe(TEXT)
    expect(await readdir(folder)).toEqual(['file.tar.gz'])
  })

  test.each<[string, RequestListener]>([
    ['refuses to serve', (_, response) => response.writeHead(503).end()],
    ['ends the connection', ({ socket }) => socket.destroy()],
    [
      'ends it in the middle',
      (_, response) => {
        response.writeHead(200, { 'content-length': TEXT.length }).write('an')
        setTimeout(() => response.destroy(), 50)
      },
    ],
  ])('is unavailable when the repository %s', async (_, listener) => {
    const { unavailable } = { unavailable: '', ...(await fetchFrom(await repositoryWith(listener))) }
    expect(unavailable).toMatch(/^Maven cannot be reached: ./)
    expect(await readdir(folder)).toEqual([])
  })

  test('is unavailable when nothing listens', async () => {
    expect(await fetchFrom(`http://127.0.0.1:${await freePort()}`)).toEqual({
      unavailable: 'Maven cannot be reached: The host refused the connection.',
    })
  })

  test('that does not exist, or is another one, is an error', async () => {
    const missing = await repositoryWith((_, response) => response.writeHead(404).end())
    await expect(fetchFrom(missing)).rejects.toThrow('does not exist')
    const other = await repositoryWith((_, response) => response.end('another archive'))
    await expect(fetchFrom(other)).rejects.toThrow('another checksum')
    expect(await readdir(folder)).toEqual([])
  })
})
