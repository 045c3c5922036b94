import { describe, expect, test } from 'vitest'
import { type EncryptionKeys, keyId, reseal, seal, unseal } from '../../src/domain/token-seal.ts'

const [first, second, third] = [1, 2, 3].map((byte) => Buffer.alloc(32, byte)) as [Buffer, Buffer, Buffer]
const randomBytes = (size: number) => Buffer.alloc(size, 7)
const sealedWith = (...keys: EncryptionKeys) => seal('secret', { keys, owner: 'a', randomBytes })
const opened = (sealed: string, ...keys: EncryptionKeys) => unseal(sealed, { keys, owner: 'a' })
/** As versions without key ids stored it. */
const withoutId = (sealed: string) => sealed.split('.').slice(0, 4).join('.')

describe('an encrypted token', () => {
  const sealed = sealedWith(first)
  const [form, iv, tag, text, id] = sealed.split('.')

  test('decrypts with its key and its owner', () => {
    expect(sealed).not.toContain('secret')
    expect(opened(sealed, first)).toBe('secret')
  })

  test.each([
    ['another owner', sealed, 'b'],
    ['a changed text', [form, iv, tag, `x${text}`, id].join('.'), 'a'],
    ['a shortened tag', [form, iv, 'AAAA', text, id].join('.'), 'a'],
    ['a changed key id', [form, iv, tag, text, keyId(second)].join('.'), 'a'],
    ['another form', sealed.replace('v1', 'v2'), 'a'],
    ['no text at all', '', 'a'],
  ])('does not decrypt with %s', (_, changed, owner) => {
    expect(unseal(changed, { keys: [first, second], owner })).toBeUndefined()
  })
})

describe('with two keys', () => {
  test.each([
    ['with a key id', (sealed: string) => sealed],
    ['of an earlier version', withoutId],
  ])('a text %s decrypts with the key that encrypted it, first or not', (_, stored) => {
    expect(opened(stored(sealedWith(first)), second, first)).toBe('secret')
    expect(opened(stored(sealedWith(second)), second, first)).toBe('secret')
    expect(opened(stored(sealedWith(third)), second, first)).toBeUndefined()
  })

  test('the first encrypts, and its id is in the text where earlier versions ignore it', () => {
    const sealed = sealedWith(second, first)
    expect(opened(sealed, second)).toBe('secret')
    expect(sealed.split('.')[4]).toBe(keyId(second))
    expect(opened(withoutId(sealed), second)).toBe('secret')
  })

  test('a text is encrypted again only if its key is another one, and never lost', () => {
    const again = (sealed: string) => reseal(sealed, { keys: [second, first], owner: 'a', randomBytes })
    const changed = again(sealedWith(first)) ?? ''
    expect(opened(changed, second)).toBe('secret')
    expect(again(changed)).toBe(changed)
    expect(again(withoutId(changed))).toBe(withoutId(changed))
    expect(opened(again(withoutId(sealedWith(first))) ?? '', second)).toBe('secret')
    expect(again(sealedWith(third))).toBeUndefined()
  })
})
