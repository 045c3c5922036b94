import { describe, expect, test } from 'vitest'
import {
  emailOf,
  groupsOf,
  hasRequiredGroup,
  mayJoin,
  nameOf,
  type ProviderRules,
  roleByGroups,
  subjectOf,
  usernameOf,
  withSuffix,
} from '../../src/domain/identity.ts'

const rules = (change: Partial<ProviderRules> = {}): ProviderRules => ({
  groupsClaim: 'groups',
  requiredGroup: null,
  roleByGroup: {},
  createUsers: 'allowed',
  allowedDomains: ['acme.com'],
  newUsers: { role: 'viewer', projectIds: null },
  ...change,
})

describe('who may join', () => {
  const join = (email: unknown, change: Partial<ProviderRules> = {}) =>
    mayJoin({ email, email_verified: true }, rules(change))

  test.each([
    ['ada@acme.com', true],
    ['ada@ACME.com', true],
    ['"evil@acme.com"@evil.example', false],
    ['evil@acme.com.evil', false],
    ['evil@sub.acme.com', false],
    ['evil@acme.com.', false],
    ['evil@xacme.com', false],
    ['evil@acme\u0430.com', false],
    ['evil@\u0430cme.com', false],
    ['evil@a\u200bcme.com', false],
    ['evil@acme.com\0', false],
    ['acme.com', false],
    ['', false],
    [undefined, false],
    [['ada@acme.com'], false],
  ])('depends on the exact domain: %j is %s', (email, expected) => {
    expect(join(email)).toBe(expected)
  })

  test('does not depend on characters that become ASCII in lower case', () => {
    expect(join('evil@\u212Aacme.com', { allowedDomains: ['kacme.com'] })).toBe(false)
  })

  test('is nobody by an internationalised domain but in its ASCII form', () => {
    const allowedDomains = ['xn--bcher-kva.example']
    expect(join('ada@bücher.example', { allowedDomains })).toBe(false)
    expect(join('ada@xn--bcher-kva.example', { allowedDomains })).toBe(true)
  })

  test.each([['true'], [1], [false], [undefined], [null]])('needs email_verified, not %j', (verified) => {
    expect(mayJoin({ email: 'ada@acme.com', email_verified: verified }, rules())).toBe(false)
  })

  test('is nobody where people are invited, or without a rule', () => {
    const claims = { email: 'ada@acme.com', email_verified: true }
    expect(mayJoin(claims, rules({ createUsers: 'invited' }))).toBe(false)
    expect(mayJoin(claims, rules({ newUsers: null }))).toBe(false)
    expect(mayJoin(claims, rules({ allowedDomains: [] }))).toBe(false)
    expect(mayJoin(claims, rules({ allowedDomains: [], requiredGroup: 'staff' }))).toBe(true)
  })
})

describe('groups', () => {
  test.each([
    ['a text', 'staff', ['staff']],
    ['a list', ['staff', 'ops', 7, null], ['staff', 'ops']],
    ['an empty list', [], []],
    ['none', undefined, undefined],
    ['an object', { staff: true }, undefined],
  ])('are read from %s', (_, groups, expected) => {
    const found = groupsOf({ groups }, rules())
    expect(found && [...found]).toEqual(expected)
  })

  test('are no inherited members', () => {
    expect(groupsOf({}, { groupsClaim: 'constructor' })).toBeUndefined()
  })

  test('decide the strongest role', () => {
    const roleByGroup = { readers: 'viewer', admins: 'owner', staff: 'member' } as const
    const role = (groups: unknown) => roleByGroups({ groups }, rules({ roleByGroup }))
    expect(role(['readers', 'admins', 'staff'])).toBe('owner')
    expect(role('staff')).toBe('member')
    expect(role(['others'])).toBe('viewer')
    expect(role(undefined)).toBeUndefined()
    expect(roleByGroups({ groups: ['admins'] }, rules())).toBeUndefined()
  })

  test('may be ten thousand', () => {
    const groups = Array.from({ length: 10_000 }, (_, n) => `group-${n}`)
    expect(hasRequiredGroup({ groups }, rules({ requiredGroup: 'group-9999' }))).toBe(true)
    expect(hasRequiredGroup({ groups }, rules({ requiredGroup: 'group-10000' }))).toBe(false)
  })
})

describe('what is stored of somebody', () => {
  test.each([
    [{ preferred_username: 'Zoë.Acme' }, 'zoe-acme'],
    [{ preferred_username: '../..' }, 'person'],
    [{ preferred_username: '李', email: 'li.wei@acme.com' }, 'li-wei'],
    [{ preferred_username: 'ME' }, 'me-1'],
    [{ preferred_username: 'a'.repeat(60) }, 'a'.repeat(39)],
    [{ preferred_username: 'x' }, 'person'],
    [{ preferred_username: 7 }, 'person'],
  ])('is a valid username: %j becomes %s', (claims, expected) => {
    expect(usernameOf(claims)).toBe(expected)
  })

  test('is a username of at most 39 characters, also with a suffix', () => {
    expect(withSuffix('a'.repeat(39), '12')).toBe(`${'a'.repeat(36)}-12`)
  })

  test.each([
    ['Ada\0 \u202eecalevoL', 'Ada ecalevoL'],
    [' Ada ', 'Ada'],
    ['\u200f', 'ada'],
    [7, 'ada'],
    ['x'.repeat(300), 'x'.repeat(100)],
  ])('is a name without characters that hide others: %j becomes %s', (name, expected) => {
    expect(nameOf({ name }, 'ada')).toBe(expected)
  })

  test('is a verified address', () => {
    expect(emailOf({ email: 'ada@acme.com', email_verified: true })).toBe('ada@acme.com')
    expect(emailOf({ email: 'ada@acme.com' })).toBeNull()
    expect(emailOf({ email: 'a\0da@acme.com', email_verified: true })).toBeNull()
  })

  test('is a subject of up to 255 characters, as it was sent', () => {
    expect(subjectOf({ sub: 'x'.repeat(255) })).toBe('x'.repeat(255))
    for (const sub of ['', 'x'.repeat(256), 'a\0', '\ud800', 7]) expect(subjectOf({ sub })).toBeUndefined()
  })
})
