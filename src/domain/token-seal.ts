import { createCipheriv, createDecipheriv, hash } from 'node:crypto'

/** Keys of 32 bytes. The first encrypts, and all decrypt: more than one while the key is being changed. */
export type EncryptionKeys = readonly [Buffer, ...Buffer[]]

interface SealOptions {
  keys: EncryptionKeys
  owner: string
  randomBytes(size: number): Buffer
}

const FORM = 'v1'
const IV_BYTES = 12

/** Names a key without revealing it: the key is random, so its hash cannot be searched for. */
export const keyId = (key: Buffer) => hash('sha256', key).slice(0, 12)

/**
 * Encrypts a text (AES-256-GCM). It can be decrypted only with the same key and for the same owner, so a value copied
 * to another row is useless.
 */
export function seal(text: string, { keys: [key], owner, randomBytes }: SealOptions): string {
  const iv = randomBytes(IV_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(owner))
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  const parts = [iv, cipher.getAuthTag(), sealed].map((part) => part.toString('base64url'))
  // The id is last, where versions that don't know it ignore it.
  return [FORM, ...parts, keyId(key)].join('.')
}

/** Returns undefined if no key fits, the owner differs, or the text was modified. */
export function unseal(
  sealed: string,
  { keys, owner }: Pick<SealOptions, 'keys' | 'owner'>,
): string | undefined {
  const [form, iv = '', tag = '', text = '', id] = sealed.split('.')
  if (form !== FORM) return undefined
  for (const key of keys) {
    // What earlier versions encrypted has no id.
    if (id !== undefined && id !== keyId(key)) continue
    try {
      const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(iv, 'base64url'), {
        authTagLength: 16,
      })
        .setAAD(Buffer.from(owner))
        .setAuthTag(Buffer.from(tag, 'base64url'))
      return Buffer.concat([decipher.update(Buffer.from(text, 'base64url')), decipher.final()]).toString()
    } catch {
      // Another key may have encrypted it.
    }
  }
  return undefined
}

/** What can be decrypted of the secrets of one owner. */
export interface Unsealed {
  texts: string[]
  /** False if a secret is stored that no key decrypts: who does not match the others may match that one. */
  isComplete: boolean
}

/** Decrypts what was encrypted for one owner. Without keys, nothing can be. */
export function unsealAll(
  stored: string[],
  { keys, owner }: { keys: EncryptionKeys | undefined; owner: string },
): Unsealed {
  const sealed = stored.filter(isSealed)
  const texts = sealed.flatMap((each) => (keys && unseal(each, { keys, owner })) ?? [])
  return { texts, isComplete: texts.length === sealed.length }
}

/** Whether a text was encrypted. What an import stores in place of a secret was not. */
export const isSealed = (text: string) => text.startsWith(`${FORM}.`)

/** The id of the key that a text was encrypted with; undefined if an earlier version did that. */
export const keyIdIn = (sealed: string): string | undefined => sealed.split('.')[4]

/** The same text, encrypted with the first key: unchanged if it was already. Undefined if it cannot be decrypted. */
export function reseal(sealed: string, options: SealOptions): string | undefined {
  const { keys, owner } = options
  if (unseal(sealed, { keys: [keys[0]], owner }) !== undefined) return sealed
  const text = unseal(sealed, options)
  return text === undefined ? undefined : seal(text, options)
}
