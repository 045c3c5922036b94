import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { Repositories } from '../../src/repositories/index.ts'
import { accessService, SESSION_IDLE_MS } from '../../src/services/access.ts'

const row = {
  id: 'a key',
  name: 'A key',
  scopes: ['tasks:read'],
  projectId: null,
  expiresAt: null,
  revokedAt: null,
  secretExpiresAt: null,
}

const WAYS = { keys: 'all' } as const

/** The service over a database whose responses the test controls. */
function given() {
  const reads: ((row: object | undefined) => void)[] = []
  const read = () => new Promise((resolve) => reads.push(resolve))
  const credentials = { keys: { findBySecret: read } } as unknown as Repositories['credentials']
  return { access: accessService({ credentials, clock: { now: () => new Date() }, ways: WAYS }), reads }
}

test('a key that was read before its revocation and returned after it is not cached', async () => {
  const { access, reads } = given()
  const before = access.callerByKey('a key')
  access.forget()
  reads[0]?.(row)
  // It was valid when it was asked.
  expect(await before).toMatchObject({ id: 'a key' })

  const after = access.callerByKey('a key')
  expect(reads).toHaveLength(2)
  reads[1]?.({ ...row, revokedAt: new Date() })
  await expect(after).rejects.toMatchObject({ code: 'invalid_credentials' })
})

test('a cached key is used without a query', async () => {
  const { access, reads } = given()
  const first = access.callerByKey('a key')
  reads[0]?.(row)
  await first
  await access.callerByKey('a key')
  expect(reads).toHaveLength(1)
})

const NOW = new Date('2026-11-23T12:00:00Z')
const [before, after] = [new Date(NOW.getTime() - 1), new Date(NOW.getTime() + 1)]

/** The service over rows that do not change, at a fixed time. */
function withRows(rows: { key?: object; session?: object; secret?: object }) {
  const credentials = {
    keys: { findBySecret: async () => rows.key },
    sessions: { findByHash: async () => rows.session, find: async () => rows.session },
    webhookSecrets: { findByHash: async () => rows.secret },
  } as unknown as Repositories['credentials']
  return accessService({ credentials, clock: { now: () => NOW }, ways: WAYS })
}

const ENDS: [string, object, string][] = [
  ['was revoked', { revokedAt: before }, 'invalid_credentials'],
  ['has expired', { expiresAt: before }, 'expired_credentials'],
  ['expires now', { expiresAt: NOW }, 'expired_credentials'],
]
const SECRET_ENDS: [string, object, string][] = [
  ['has a secret that has expired', { secretExpiresAt: before }, 'invalid_credentials'],
  ['has a secret that expires now', { secretExpiresAt: NOW }, 'invalid_credentials'],
]

test.each([...ENDS, ...SECRET_ENDS])(
  'a key is refused, and its streams end, if it %s',
  async (_, change, code) => {
    await expect(withRows({ key: { ...row, ...change } }).callerByKey('k')).rejects.toMatchObject({ code })
    const caller = await withRows({ key: row }).callerByKey('k')
    expect(await withRows({ key: { ...row, ...change } }).admissionOf(caller)).toBe('ended')
    expect(await withRows({ key: row }).admissionOf(caller)).toBe('same')
    expect(await withRows({}).admissionOf(caller)).toBe('ended')
  },
)

test.each([
  ...ENDS.map(([name, change, code]) => [name, { key: { ...row, ...change } }, code] as const),
  ...SECRET_ENDS.map(([name, change, code]) => [name, change, code] as const),
  [
    'was idle for too long',
    { lastSeenAt: new Date(NOW.getTime() - SESSION_IDLE_MS) },
    'invalid_credentials',
  ] as const,
])('a session is refused, and its streams end, if its key %s', async (_, change, code) => {
  const session = { id: 's', keyId: row.id, key: row, secretExpiresAt: null, lastSeenAt: before }
  await expect(withRows({ session: { ...session, ...change } }).callerBySession('t')).rejects.toMatchObject({
    code,
  })
  const caller = await withRows({ session }).callerBySession('t')
  expect(await withRows({ session: { ...session, ...change } }).admissionOf(caller)).toBe('ended')
  expect(await withRows({ session }).admissionOf(caller)).toBe('same')
  expect(await withRows({}).admissionOf(caller)).toBe('ended')
})

test.each([
  [null, null, null, false],
  [after, null, after, false],
  [null, after, after, true],
  [new Date(NOW.getTime() + 2), after, after, true],
  [after, new Date(NOW.getTime() + 2), after, true],
])(
  'a caller expires with its key or its secret, whichever is first',
  async (expiresAt, secretExpiresAt, end, isReplaced) => {
    const key = { ...row, expiresAt, secretExpiresAt }
    expect(await withRows({ key }).callerByKey('k')).toMatchObject({ expiresAt: end, isReplaced })
    const session = { id: 's', keyId: row.id, key, secretExpiresAt, lastSeenAt: before }
    expect(await withRows({ session }).callerBySession('t')).toMatchObject({
      expiresAt: end,
      isReplaced,
      channel: 'dashboard',
    })
  },
)

test.each([
  ['is valid', {}, true],
  ['is valid until later', { expiresAt: after }, true],
  ['was revoked', { revokedAt: before }, false],
  ['has expired', { expiresAt: before }, false],
  ['expires now', { expiresAt: NOW }, false],
])('a webhook secret that %s', async (_, change, isValid) => {
  const secret = { id: 'w', revokedAt: null, expiresAt: null, ...change }
  expect(await withRows({ secret }).isWebhookSecret('x')).toBe(isValid)
  expect(await withRows({}).isWebhookSecret('x')).toBe(false)
})

test('a revocation empties the cache of keys, sessions, and secrets', async () => {
  const session = { id: 's', keyId: row.id, key: row, secretExpiresAt: null, lastSeenAt: before }
  const rows: Parameters<typeof withRows>[0] = {
    key: row,
    session,
    secret: { id: 'w', revokedAt: null, expiresAt: null },
  }
  const access = withRows(rows)
  await Promise.all([access.callerByKey('k'), access.callerBySession('t'), access.isWebhookSecret('x')])
  for (const name of ['key', 'session', 'secret'] as const) delete rows[name]
  expect(await access.isWebhookSecret('x')).toBe(true)

  access.forget()

  await expect(access.callerByKey('k')).rejects.toMatchObject({ code: 'invalid_credentials' })
  await expect(access.callerBySession('t')).rejects.toMatchObject({ code: 'invalid_credentials' })
  expect(await access.isWebhookSecret('x')).toBe(false)
})

test('a revocation calls all listeners, until they stop', () => {
  const { access } = given()
  const called: string[] = []
  const stop = access.onForget(() => called.push('one'))
  access.onForget(() => called.push('other'))
  access.forget()
  stop()
  access.forget()
  expect(called).toEqual(['one', 'other', 'other'])
})

test('what is cached is read again after three seconds, in case the notice of a revocation is lost', async () => {
  let now = performance.now()
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now)
  onTestFinished(() => clock.mockRestore())
  // The cache reads the clock once in a while.
  const pass = async (ms: number) => {
    now += ms
    await sleep(5)
  }
  const { access, reads } = given()
  const first = access.callerByKey('a key')
  reads[0]?.(row)
  await first
  await pass(2_990)
  await access.callerByKey('a key')
  expect(reads).toHaveLength(1)
  await pass(20)
  const again = access.callerByKey('a key')
  reads[1]?.(undefined)
  await expect(again).rejects.toMatchObject({ code: 'invalid_credentials' })
})

test('a session counts as a use of its key, and times that could not be stored are kept beside later ones', async () => {
  const session = { id: 's', keyId: row.id, key: row, secretExpiresAt: null, lastSeenAt: before }
  const stored: [string, string, Date][] = []
  let isAway = true
  let now = NOW
  const touch = (what: string) => async (used: Map<string, Date>) => {
    if (isAway) throw new Error('away')
    for (const [id, usedAt] of used) stored.push([what, id, usedAt])
  }
  const credentials = {
    keys: { findBySecret: async () => ({ ...row, id: 'another key' }), touch: touch('key') },
    sessions: { findByHash: async () => session, touch: touch('session') },
    users: { touch: touch('user') },
    webhookSecrets: {
      findByHash: async () => ({ id: 'w', revokedAt: null, expiresAt: null }),
      touch: touch('secret'),
    },
  } as unknown as Repositories['credentials']
  const access = accessService({ credentials, clock: { now: () => now }, ways: WAYS })
  await access.callerBySession('t')
  await access.callerByKey('k')
  await access.isWebhookSecret('x')
  await expect(access.flushLastUsed()).rejects.toThrow('away')
  now = after
  await access.callerBySession('t')
  isAway = false

  await access.flushLastUsed()
  expect(stored).toEqual([
    ['key', row.id, after],
    ['key', 'another key', NOW],
    ['session', 's', after],
    ['secret', 'w', NOW],
  ])
  stored.length = 0
  await access.flushLastUsed()
  expect(stored).toEqual([])
})
