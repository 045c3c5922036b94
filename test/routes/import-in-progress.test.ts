import { type ClientRequest, request as httpRequest } from 'node:http'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openDatabase } from '../../src/db/pool.ts'
import { transfersOn } from '../../src/repositories/index.ts'
import { importState } from '../../src/services/import-state.ts'
import { startApp } from '../support/app.ts'
import { fillEverything } from '../support/exported-data.ts'
import { exported, importInto } from '../support/exports.ts'
import { feedback } from '../support/feedback.ts'
import { browserOf, PUBLIC_URL } from '../support/identity-browser.ts'
import { locksOf } from '../support/locks.ts'
import { startOidcProvider } from '../support/oidc-provider.ts'
import { PASSWORD, person } from '../support/people.ts'
import { ALLOWED, account, addProvider } from '../support/providers.ts'
import { startTwoInstances, type TwoInstances } from '../support/two-instances.ts'

const REFUSED = '/sign-in?error=import_in_progress'
const SECRET = 'a-webhook-secret-for-tests'

let instances: TwoInstances
let text: string

beforeAll(async () => {
  const source = await startApp()
  await fillEverything(source)
  text = await exported(source)
  await source.close()
})

beforeEach(async () => {
  const env = { WEBHOOK_SECRET: SECRET, PUBLIC_URL, ENCRYPTION_KEY: 'ab'.repeat(32) }
  instances = await startTwoInstances({ env })
  return () => instances.close()
})

describe('while an import is in progress', () => {
  test('all other writes are 503 on every instance, and reads work', async () => {
    const { service, second } = instances
    const upload = await startImport()
    for (const instance of [service, second]) {
      const call = { key: service.adminKey }
      for (const [method, path, body] of [
        ['POST', '/api/tasks', { title: 'x' }],
        ['POST', '/api/projects', { name: 'x' }],
        ['POST', '/api/keys', { name: 'x' }],
        ['DELETE', '/api/tasks/00000000-0000-7000-8000-000000000000', undefined],
      ] as const) {
        const refused = await instance.call(method, path, { ...call, body })
        expect([path, refused.status, refused.body.code]).toEqual([path, 503, 'import_in_progress'])
        expect(refused.headers.get('retry-after')).toBe('10')
      }
      const delivery = await instance.post('/api/analytics/webhook', feedback(), {
        key: null,
        headers: { authorization: `Bearer ${SECRET}` },
      })
      expect([delivery.status, delivery.body.code]).toEqual([503, 'import_in_progress'])
      const tool = await instance.post('/mcp', CREATE_TASK, {
        ...call,
        headers: { accept: 'application/json, text/event-stream' },
      })
      expect(JSON.stringify(tool.body)).toContain('import_in_progress')
      expect((await instance.get('/api/tasks', call)).status).toBe(200)
      expect((await instance.get('/readyz')).status).toBe(200)
    }
    const another = await importInto(second, text)
    expect([another.status, another.body.code]).toEqual([503, 'import_in_progress'])

    expect(await upload.finish()).toBe(200)
    await expectWritable()
    expect((await service.get('/api/rules?includeInactive=true')).status).toBe(200)
  })

  test('nobody signs in, and all are told so at once', async () => {
    const { service, second } = instances
    const { username } = await person(service)
    const provider = await startOidcProvider()
    const { id, redirectUrl } = await addProvider(service, { issuer: provider.issuer, ...ALLOWED })
    await provider.register(redirectUrl)
    provider.signIn(account())
    const browser = browserOf(service)
    const isBack = ({ pathname }: URL) => pathname.endsWith('/callback')
    const { at: callback } = await browser.open(`/auth/${id}`, { until: isBack })
    const upload = await startImport()
    for (const instance of [service, second]) {
      for (const [path, body] of [
        ['/api/sessions', { username, password: PASSWORD }],
        ['/api/sessions', { key: service.adminKey }],
        ['/api/sessions/passkey-challenge', {}],
        ['/api/invites/accept', { secret: 'x', password: PASSWORD }],
        ['/api/invites/accept-at-provider', { secret: 'x', providerId: id }],
      ] as const) {
        const { status, body: problem } = await instance.post(path, body, { key: null })
        expect([path, status, problem.code]).toEqual([path, 503, 'import_in_progress'])
      }
      expect((await browserOf(instance).open(`/auth/${id}`)).at).toBe(REFUSED)
    }
    expect((await browser.open(callback)).at).toBe(REFUSED)

    // The sign-in that was begun before can still be completed.
    upload.request.destroy()
    await expectWritable()
    expect((await browser.open(callback)).at).toBe('/')
    await provider.close()
  })

  test('a client that disconnects ends it, and nothing was imported', async () => {
    const { service } = instances
    const upload = await startImport()
    upload.request.destroy()
    await expectWritable()
    expect(await exported(service)).not.toContain('"kind":"comment"')
  })

  test('a lost connection to the database ends it, as if its instance was killed', async () => {
    const { service } = instances
    const upload = await startImport()
    await service.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'inlet import' and datname = current_database()",
    )
    await expectWritable()
    expect(await upload.finish()).toBe(503)
  })

  test('an instance that starts knows of it', async () => {
    const { service } = instances
    const upload = await startImport()
    const db = openDatabase({ connectionString: service.connectionString, size: 1, onError: () => {} })
    const state = importState(transfersOn(db))
    // As `listen` does when it starts.
    state.receive()
    await expect.poll(state.isRunning).toBe(true)
    expect(await upload.finish()).toBe(200)
    await expect.poll(state.isRunning, { timeout: 5_000 }).toBe(false)
    await db.$client.end()
  })

  test('a job that locks in another order delays it', async () => {
    const { service } = instances
    const locks = locksOf(service)
    const job = await service.connect()
    // As when it adds pending changes to the counts: these first, then the lists.
    await job.query('begin; lock table task_count_changes in row exclusive mode')
    const done = importInto(service, text)
    await locks.waiting(1, done)
    const lists = job.query('lock table lists in row exclusive mode')
    // Whoever PostgreSQL chooses begins again.
    await lists.catch(() => {})
    await job.query('rollback')
    job.release()
    expect(await done).toMatchObject({ status: 200 })
  })

  test('ends before its response: the next write of the same client works', async () => {
    const { service } = instances
    for (let nth = 0; nth < 20; nth++) {
      await service.post('/api/rules', { content: `${nth}` })
      expect((await importInto(service, text)).status).toBe(409)
      expect((await service.post('/api/tasks', { title: `${nth}` })).status).toBe(201)
    }
  })
})

/** Half of a body; resolves once both instances know of the import. */
async function startImport() {
  const { service, second } = instances
  const status = Promise.withResolvers<number | undefined>()
  const request: ClientRequest = httpRequest(`${service.url}/api/import`, {
    method: 'POST',
    headers: { 'x-api-key': service.adminKey, 'content-type': 'application/x-ndjson' },
  })
  request.on('response', (response) => status.resolve(response.resume().statusCode))
  request.on('error', (error) => status.reject(error))
  status.promise.catch(() => {})
  const half = text.length / 2
  request.write(text.slice(0, half))
  for (const instance of [service, second]) {
    await expect.poll(() => instance.service.importing.isRunning()).toBe(true)
  }
  return {
    request,
    async finish() {
      request.end(text.slice(half))
      return status.promise
    },
  }
}

async function expectWritable() {
  const { service, second } = instances
  for (const instance of [service, second]) {
    const create = () => instance.post('/api/tasks', { title: 'x' }, { key: service.adminKey })
    await expect.poll(async () => (await create()).status, { timeout: 5_000 }).toBe(201)
  }
}

const CREATE_TASK = {
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'create_task', arguments: { title: 'x' } },
}
