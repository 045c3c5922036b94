import { copyFile, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { keyId } from '../../src/domain/token-seal.ts'
import type { SourceWithSecret } from '../../src/schemas/source.ts'
import { spawnCommand } from '../support/commands.ts'
import { ADMIN_KEY, cleanUp, type Inlet, newDataDir, spawnInlet } from '../support/inlet-process.ts'
import { deliver } from '../support/sources.ts'

afterEach(cleanUp)

const LOST = 'the encryption key is not the one that these tokens and secrets were encrypted with'

test('a backup restored without its key: the start names what it cannot read, and the key brings it back', async () => {
  const dataDir = await newDataDir()
  const inlet = spawnInlet({ dataDir })
  const source = await createSource(await inlet.url)
  const file = `${dataDir}-backup.tar.gz`
  expect(await spawnCommand(['backup', file], { dataDir }).ended).toMatchObject({ code: 0 })
  expect(inlet.output()).not.toContain(LOST)
  await end(inlet)
  const kept = `${dataDir}-encryption.key`
  await copyFile(join(dataDir, 'encryption.key'), kept)
  const key = (await readFile(kept, 'utf8')).trim()
  await rm(dataDir, { recursive: true })
  const restored = await spawnCommand(['restore', file], { dataDir }).ended
  expect(restored.output).toContain('encryption.key is missing')

  const lost = spawnInlet({ dataDir })
  expect((await deliver({ url: await lost.url }, { source, payload: { title: 'T' } })).status).toBe(503)
  const line = lost
    .output()
    .split('\n')
    .find((line) => line.includes(LOST))
  expect(JSON.parse(line ?? '{}')).toMatchObject({
    ...{ level: 50, connections: 0, sources: 1, webhooks: 0 },
    names: [`the secret of the source "Forms" (${source.id})`],
    keyIds: [keyId(Buffer.from(key, 'hex'))],
    msg: expect.stringContaining('Set ENCRYPTION_KEY_PREVIOUS to that key'),
  })
  await end(lost)

  const env = { ENCRYPTION_KEY_PREVIOUS: key }
  const found = spawnInlet({ dataDir, env })
  expect((await deliver({ url: await found.url }, { source, payload: { title: 'T' } })).status).toBe(201)
  expect(found.output()).not.toContain(LOST)
  await end(found)

  const rotated = await spawnCommand(['keys', 'rotate-encryption'], { dataDir, env }).ended
  expect(rotated).toMatchObject({ code: 0, output: expect.stringContaining('Encrypted 1 stored') })
})

async function createSource(url: string): Promise<SourceWithSecret> {
  // biome-ignore lint/suspicious/noExplicitAny: a project, or a source.
  const post = async (path: string, body: object): Promise<any> => {
    const headers = { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json' }
    const response = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })
    expect(response.status).toBe(201)
    return response.json()
  }
  const { id: projectId } = await post('/api/projects', { name: 'Web' })
  const verify = { scheme: 'standard_webhooks' }
  const template = { title: '{{ payload.title }}' }
  return post('/api/sources', { name: 'Forms', projectId, verify, template })
}

async function end(inlet: Inlet) {
  inlet.process.kill('SIGTERM')
  expect(await inlet.ended).toMatchObject({ code: 0 })
}
