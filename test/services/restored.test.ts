import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { afterRestore, listAccess } from '../../src/services/restored.ts'
import { setUp } from '../../src/services/setup.ts'
import { person } from '../support/people.ts'
import { signIn } from '../support/sign-in.ts'
import { type Syncing, startSyncing } from '../support/syncing.ts'
import { webhookTo } from '../support/webhooks.ts'
import { writingBack } from '../support/writing-back.ts'

let service: Syncing
beforeAll(async () => {
  service = await startSyncing({ hasOutboxWorker: false, env: { WEBHOOK_ALLOW_HOSTS: '127.0.0.1' } })
})
afterAll(() => service.close())

test('the first start after a restore ends the cursors of changes', async () => {
  const { nextCursor } = (await service.get('/api/changes')).body
  expect((await service.get(`/api/changes?cursor=${nextCursor}`)).status).toBe(200)

  await afterRestore(service)

  const { status, body } = await service.get(`/api/changes?cursor=${nextCursor}`)
  expect({ status, code: body.code }).toEqual({ status: 400, code: 'invalid_cursor' })
})

test('the first start on a restored dump does the same as after a restore', async () => {
  const { path } = await writingBack(service)
  await service.query("update change_feed set database_id = 'of another cluster'")

  const options = { ...service, randomBytes, bootstrapKey: undefined, hasWebhookSecret: true }
  expect(await setUp(options)).toMatchObject({ isRestored: true })

  expect((await service.get(path)).body.writeBack).toBe('off')
  expect(await setUp(options)).toMatchObject({ isRestored: false })
})

test('the first start after a restore turns write-back off, and sends nothing that waited in the backup', async () => {
  const { id, path, project } = await writingBack(service)
  await service.patch(`/api/tasks/${id}`, { status: 'done' })
  expect((await service.get(`/api/tasks/${id}`)).body.writeBack.state).toBe('pending')

  await afterRestore(service)

  expect((await service.get(path)).body.writeBack).toBe('off')
  expect((await service.get(`/api/tasks/${id}`)).body).toMatchObject({ status: 'done', writeBack: null })
  const { body } = await service.get(`/api/activity?projectId=${project.id}&type=connection.updated`)
  expect(body.data).toMatchObject([
    {
      message: 'Turned off because the database was restored from a backup.',
      actor: { type: 'system', name: 'Inlet' },
      metadata: { changes: { writeBack: { from: 'state', to: 'off' } } },
    },
  ])
})

test('the first start after a restore turns outgoing webhooks off, and keeps the reason of those that were off', async () => {
  const input = { url: 'http://127.0.0.1:9/', types: ['task.created'] }
  const [active, off] = [await webhookTo(service, input), await webhookTo(service, input)]
  await service.patch(`/api/webhooks/${off.id}`, { isActive: false })

  await afterRestore(service)

  const state = async (id: string) => (await service.get(`/api/webhooks/${id}`)).body
  expect(await state(active.id)).toMatchObject({ isActive: false, disabledReason: 'restored' })
  expect(await state(off.id)).toMatchObject({ isActive: false, disabledReason: null })
  const { body } = await service.get('/api/activity?type=webhook.disabled')
  expect(body.data).toMatchObject([
    { actor: { type: 'system' }, metadata: { webhookId: active.id, reason: 'restored' } },
  ])
})

test('a dump that is restored under a running instance does the same', async () => {
  const { path } = await writingBack(service)
  const webhook = await webhookTo(service, { url: 'http://127.0.0.1:9/', types: ['task.created'] })
  await service.query("update change_feed set database_id = 'of another cluster'")

  await service.get('/api/changes')

  expect((await service.get(path)).body.writeBack).toBe('off')
  expect((await service.get(`/api/webhooks/${webhook.id}`)).body.disabledReason).toBe('restored')
})

test('the first start after a restore ends sessions and invites, and lists who can sign in', async () => {
  const [ada, gone] = [await person(service), await person(service)]
  await service.patch(`/api/users/${gone.id}`, { isActive: false })
  await service.post('/api/invites', { name: 'Bob', role: 'viewer' })
  const key = await signIn(service, service.adminKey)

  expect(await afterRestore(service)).toMatchObject({ sessions: 2, invites: 1 })

  for (const { with: options } of [ada, key]) expect((await service.get('/api/me', options)).status).toBe(401)
  expect((await service.get('/api/invites')).body.data).toEqual([])
  const access = await listAccess(service)
  expect(access.people).toEqual([ada.username])
  expect(access.keys).toContain((await service.get('/api/me')).body.name)
})

test('lists all who can still sign in, however many they are', async () => {
  await service.query(
    `insert into users (id, username, name, role, is_active, created_at)
     select gen_random_uuid(), 'of-many-' || n, 'x', 'member', true, now() from generate_series(1, 450) n`,
  )
  await service.query(
    `with made as (
       insert into api_keys (id, name, scopes, created_at)
       select gen_random_uuid(), 'key ' || n, '{tasks:read}', now() from generate_series(1, 450) n
       returning id
     )
     insert into api_key_secrets (hash, prefix, last_four, key_id, created_at)
     select id, 'inl_00000000', 'abcd', id, now() from made`,
  )
  const { people, keys } = await listAccess(service)
  expect(people.filter((name) => name.startsWith('of-many-'))).toHaveLength(450)
  expect(new Set(keys.filter((name) => /^key \d+$/.test(name))).size).toBe(450)
})
