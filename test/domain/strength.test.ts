import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { isAllowedHost, isAllowedOrigin } from '../../src/domain/allowed-origin.ts'
import { allows, outlives, scopeBeyond } from '../../src/domain/key-strength.ts'
import { isAllowed, requireAllowed } from '../../src/domain/operation.ts'
import { describeSecret, hashOf, keySecret } from '../../src/domain/secret.ts'
import { isLoopback } from '../../src/lib/loopback.ts'
import type { Scope } from '../../src/schemas/caller.ts'
import { callerWith } from '../support/caller.ts'

const key = (
  scopes: Scope[],
  { projectIds = null as string[] | null, expiresAt = null as Date | null } = {},
) => ({
  scopes,
  projectIds,
  expiresAt,
})

describe('a key', () => {
  test('has its scopes, and as an administrator all', () => {
    expect([allows(['tasks:read'], 'tasks:read'), allows(['tasks:read'], 'tasks:write')]).toEqual([
      true,
      false,
    ])
    expect([allows(['admin'], 'tasks:write'), allows(['tasks:read'], 'admin')]).toEqual([true, false])
  })

  test('makes none with another scope', () => {
    expect(scopeBeyond(key(['tasks:read', 'rules:read']), key(['tasks:read']))).toBe('rules:read')
    expect(scopeBeyond(key(['admin']), key(['tasks:read']))).toBe('admin')
    expect(scopeBeyond(key(['tasks:read', 'admin']), key(['admin']))).toBeUndefined()
  })

  test('makes none that outlives it', () => {
    const [soon, later] = [new Date(1_000), new Date(2_000)].map((expiresAt) => key([], { expiresAt }))
    const lasting = key([])
    if (!soon || !later) throw new Error('There are two.')
    expect([outlives(lasting, soon), outlives(later, soon)]).toEqual([true, true])
    expect([outlives(soon, soon), outlives(soon, later), outlives(later, lasting)]).toEqual([
      false,
      false,
      false,
    ])
    expect(outlives(lasting, lasting)).toBe(false)
  })

  test('has 256 random bits, and is stored as its hash', () => {
    const secret = keySecret(randomBytes)
    expect(Buffer.from(secret.text.split('_').slice(2).join('_'), 'base64url')).toHaveLength(32)
    expect(secret.hash).toBe(hashOf(secret.text))
    expect(secret.hash).toMatch(/^[0-9a-f]{64}$/)
    expect(describeSecret('a-secret-of-the-operator')).toMatchObject({ prefix: 'a-se', lastFour: 'ator' })
  })
})

describe('an operation', () => {
  const ADMIN = { scope: 'admin' } as const
  const SERVICE_WIDE = { scope: 'admin', isServiceWide: true } as const
  const SECRETS = { scope: 'admin', changesSecrets: true } as const
  const ANY = { scope: 'any' } as const

  test.each([
    ['with its scope', key(['admin']), ADMIN, true],
    ['without its scope', key(['tasks:read']), ADMIN, false],
    ['without any scope, if it needs none', key([]), ANY, true],
    ['of the whole service', key(['admin']), SERVICE_WIDE, true],
    ['of the whole service, bound to a project', key(['admin'], { projectIds: ['p'] }), SERVICE_WIDE, false],
    ['of its project', key(['admin'], { projectIds: ['p'] }), ADMIN, true],
    ['that changes secrets', { ...key(['admin']), isReplaced: false }, SECRETS, true],
    ['that changes secrets, with a replaced one', { ...key(['admin']), isReplaced: true }, SECRETS, false],
    ['that changes none, with a replaced one', { ...key(['admin']), isReplaced: true }, ADMIN, true],
  ])('is called and listed alike: %s', (_, caller, operation, expected) => {
    expect(isAllowed(caller, operation)).toBe(expected)
    const calling = callerWith(caller)
    if (expected) requireAllowed(calling, operation)
    else {
      expect(() => requireAllowed(calling, operation)).toThrow(
        expect.objectContaining({ code: 'insufficient_scope', extras: { requiredScope: 'admin' } }),
      )
    }
  })
})

describe('names of this machine', () => {
  test.each(['localhost', '[::1]', '127.0.0.1', '127.1.2.3'])('are known: %s', (name) => {
    expect(isLoopback(name)).toBe(true)
    expect(isAllowedHost(`${name}:8080`, undefined)).toBe(true)
    expect(isAllowedOrigin(`http://${name}:8080`, undefined)).toBe(true)
  })

  test.each([
    'evil-localhost',
    'x.localhost',
    'localhost.x',
    '127.0.0.1.x',
    'x127.0.0.1',
    '128.0.0.1',
    '127.0.0',
    '',
  ])('are not similar ones: %s', (name) => {
    expect(isLoopback(name)).toBe(false)
  })

  test.each(['ftp://localhost', 'file://localhost', 'null', '', 'localhost'])(
    'have no other origin: %s',
    (origin) => {
      expect(isAllowedOrigin(origin, 'https://inlet.example')).toBe(false)
    },
  )
})

describe('the public address', () => {
  const PUBLIC = 'https://inlet.example'

  test('is one host on any port, and one origin', () => {
    expect(isAllowedHost('inlet.example:8443', PUBLIC)).toBe(true)
    expect(isAllowedOrigin('https://inlet.example', PUBLIC)).toBe(true)
  })

  test.each(['notinlet.example', 'x.inlet.example', 'inlet.example.x', 'inlet.exampl', 'a b', ''])(
    'is no host like it: %s',
    (host) => {
      expect(isAllowedHost(host, PUBLIC)).toBe(false)
      expect(isAllowedHost(host, undefined)).toBe(false)
    },
  )

  test.each([
    'http://inlet.example',
    'https://inlet.example:8443',
    'https://x.inlet.example',
    'https://inlet.example.x',
  ])('is no origin like it: %s', (origin) => {
    expect(isAllowedOrigin(origin, PUBLIC)).toBe(false)
  })
})
