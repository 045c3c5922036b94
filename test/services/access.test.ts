import { expect, test } from 'vitest'
import type { Repositories } from '../../src/repositories/index.ts'
import { accessService } from '../../src/services/access.ts'

const row = {
  id: 'a key',
  name: 'A key',
  scopes: ['tasks:read'],
  projectId: null,
  expiresAt: null,
  revokedAt: null,
  secretExpiresAt: null,
}

/** The service over a database whose responses the test controls. */
function given() {
  const reads: ((row: object | undefined) => void)[] = []
  const read = () => new Promise((resolve) => reads.push(resolve))
  const credentials = { keys: { findBySecret: read } } as unknown as Repositories['credentials']
  return { access: accessService({ credentials, clock: { now: () => new Date() } }), reads }
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
