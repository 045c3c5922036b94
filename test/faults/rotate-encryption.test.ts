import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { afterEach, expect, test } from 'vitest'
import { keyId } from '../../src/domain/token-seal.ts'
import type { SourceWithSecret } from '../../src/schemas/source.ts'
import { killAt, spawnCommand } from '../support/commands.ts'
import { ADMIN_KEY, cleanUp, connectionStringOf, newDataDir, spawnInlet } from '../support/inlet-process.ts'
import { deliver } from '../support/sources.ts'

afterEach(cleanUp)

const SOURCES = 120

test('kill -9 in the middle of a change of the encryption key of the embedded database loses nothing', async () => {
  const dataDir = await newDataDir()
  const rotate = () => spawnCommand(['keys', 'rotate-encryption'], { dataDir })
  const inlet = spawnInlet({ dataDir })
  const sources = await createSources(await inlet.url)
  const files = async () =>
    (await readdir(dataDir)).filter((name) => name.startsWith('encryption.key')).sort()
  const key = await keyIn(dataDir)

  // The running service has read the key.
  expect(await rotate().ended).toEqual({
    code: 1,
    output: 'Inlet is running with this database. Stop all instances, then run this again.\n',
  })
  expect({ files: await files(), key: await keyIn(dataDir) }).toEqual({ files: ['encryption.key'], key })
  inlet.process.kill('SIGTERM')
  await inlet.ended

  const killed = rotate()
  await killAt(killed, async () => {
    const fresh = await keyIn(dataDir)
    return !fresh.equals(key) && (await countOf(dataDir, fresh)) > 0
  })
  const left = await countOf(dataDir, key)
  expect(left).toBeGreaterThan(0)
  expect(left).toBeLessThan(SOURCES)
  expect(await files()).toEqual(['encryption.key', 'encryption.key.previous'])

  const between = spawnInlet({ dataDir })
  expect(await statusesOf(await between.url, sources)).toEqual([201, 201])
  between.process.kill('SIGTERM')
  await between.ended

  const fresh = await keyIn(dataDir)
  const { code, output } = await rotate().ended
  expect({ code, output }).toEqual({
    code: 0,
    output: expect.stringContaining(`Encrypted ${left} stored tokens and secrets with the new key`),
  })
  const [, kept = ''] = await files()
  expect(output).toContain(`The previous key is in ${join(dataDir, kept)}.`)
  expect(await readFile(join(dataDir, kept), 'utf8')).toBe(`${key.toString('hex')}\n`)
  expect(await keyIn(dataDir)).toEqual(fresh)

  const after = spawnInlet({ dataDir })
  expect(await statusesOf(await after.url, sources)).toEqual([201, 201])
  expect(await countOf(dataDir, fresh)).toBe(SOURCES)
  after.process.kill('SIGTERM')
  await after.ended
})

async function createSources(url: string): Promise<SourceWithSecret[]> {
  // biome-ignore lint/suspicious/noExplicitAny: a project, or a source.
  const post = async (path: string, body: object): Promise<any> => {
    const headers = { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json' }
    const response = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })
    expect(response.status).toBe(201)
    return response.json()
  }
  const { id: projectId } = await post('/api/projects', { name: 'Web' })
  const created = []
  for (let nth = 0; nth < SOURCES; nth++) {
    const verify = { scheme: 'standard_webhooks' }
    const template = { title: '{{ payload.title }}' }
    created.push(await post('/api/sources', { name: `Source ${nth}`, projectId, verify, template }))
  }
  return created
}

/** Of signed deliveries to the first and the last source. */
async function statusesOf(url: string, sources: SourceWithSecret[]) {
  const payload = { title: 'A title' }
  const statuses = []
  for (const source of [sources.slice(0, 1), sources.slice(-1)].flat()) {
    statuses.push((await deliver({ url }, { source, payload })).status)
  }
  return statuses
}

async function keyIn(dataDir: string): Promise<Buffer> {
  return Buffer.from((await readFile(join(dataDir, 'encryption.key'), 'utf8')).trim(), 'hex')
}

/** How many sources have a secret that is encrypted with this key. */
async function countOf(dataDir: string, key: Buffer): Promise<number> {
  const client = new pg.Client({ connectionString: await connectionStringOf(dataDir) })
  await client.connect()
  const { rows } = await client.query('select count(*)::int as count from sources where secret like $1', [
    `%.${keyId(key)}`,
  ])
  await client.end()
  return rows[0].count
}
