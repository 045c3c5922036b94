/**
 * Writes the dump of a version: starts it on a PostgreSQL of its own, fills it over its own API, and dumps the database.
 * `node test/dumps/make.ts` dumps this version, and `node test/dumps/make.ts FOLDER` the one in another folder.
 */
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { api } from '../support/api-client.ts'
import { startCodeHost } from '../support/code-host.ts'
import { freePort } from '../support/free-port.ts'
import { startInstalledPostgres } from '../support/installed-postgres.ts'
import { startReceiver } from '../support/webhooks.ts'
import { fill, HOST_TOKEN, PUBLIC_URL, repositoryOf } from './fill.ts'

const folder = resolve(process.argv[2] ?? fileURLToPath(new URL('../..', import.meta.url)))
const schema = Number(
  (await readdir(join(folder, 'migrations'))).findLast((name) => /^\d/.test(name))?.slice(0, 4),
)
const name = String(schema).padStart(4, '0')

const postgres = await startInstalledPostgres()
const host = await startCodeHost({ tokens: { [HOST_TOKEN]: {} } })
const receiver = await startReceiver()
const temporary = await mkdtemp(join(tmpdir(), 'inlet-dump-'))
try {
  const repository = repositoryOf(host)
  const databaseUrl = postgres.createDatabase('inlet')
  const adminKey = randomBytes(16).toString('hex')
  const encryptionKey = randomBytes(32).toString('hex')
  const url = `http://127.0.0.1:${await freePort()}`
  const inlet = spawn(process.execPath, ['src/server.ts'], {
    cwd: folder,
    env: {
      PATH: process.env.PATH,
      PORT: new URL(url).port,
      DATABASE_URL: databaseUrl,
      BOOTSTRAP_API_KEY: adminKey,
      ENCRYPTION_KEY: encryptionKey,
      PUBLIC_URL,
      CODEHOST_API_URLS: host.url,
      WEBHOOK_ALLOW_HOSTS: '127.0.0.1',
      LOG_LEVEL: 'warn',
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  try {
    while (!(await isReady(url))) {
      if (inlet.exitCode !== null) throw new Error('Inlet ended before it listened.')
      await sleep(50)
    }
    const about = { schema, receiverUrl: receiver.url, host, repository }
    const filled = await fill(api({ url, key: adminKey }), about)
    const facts = {
      madeAt: new Date().toISOString(),
      encryptionKey,
      hostUrl: host.url,
      receiverUrl: receiver.url,
    }
    await writeFile(
      fileOf('json.gz'),
      gzipSync(JSON.stringify({ ...facts, adminKey, ...filled }), { level: 9 }),
    )
  } finally {
    const ended = once(inlet, 'close')
    inlet.kill('SIGTERM')
    await ended
  }
  const dump = join(temporary, 'inlet.sql')
  postgres.run('pg_dump', '--inserts', '--no-owner', '--no-privileges', `--file=${dump}`, databaseUrl)
  // psql's commands, which no other client knows.
  const sql = (await readFile(dump, 'utf8')).replace(/^\\(un)?restrict .*$/gm, '')
  const zipped = gzipSync(sql, { level: 9 })
  await writeFile(fileOf('sql.gz'), zipped)
  console.log(`${name}: ${sql.length} bytes of SQL, ${zipped.length} compressed`)
} finally {
  await receiver.close()
  await host.close()
  await postgres.stop()
  await rm(temporary, { recursive: true })
}

function fileOf(extension: string): string {
  return fileURLToPath(new URL(`${name}.${extension}`, import.meta.url))
}

async function isReady(url: string): Promise<boolean> {
  const response = await fetch(`${url}/readyz`).catch(() => undefined)
  return response?.ok ?? false
}
