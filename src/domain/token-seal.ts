import { createCipheriv, createDecipheriv } from 'node:crypto'

const FORM = 'v1'
const IV_BYTES = 12

/**
 * Encrypts a text (AES-256-GCM). It can be decrypted only with the same key and for the same owner, so a value copied
 * to another row is useless.
 */
export function seal(
  text: string,
  { key, owner, randomBytes }: { key: Buffer; owner: string; randomBytes: (size: number) => Buffer },
): string {
  const iv = randomBytes(IV_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(owner))
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return [FORM, ...[iv, cipher.getAuthTag(), sealed].map((part) => part.toString('base64url'))].join('.')
}

/** Returns undefined if the key or the owner differs, or the text was modified. */
export function unseal(sealed: string, { key, owner }: { key: Buffer; owner: string }): string | undefined {
  const [form, iv = '', tag = '', text = ''] = sealed.split('.')
  if (form !== FORM) return undefined
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(iv, 'base64url'), { authTagLength: 16 })
      .setAAD(Buffer.from(owner))
      .setAuthTag(Buffer.from(tag, 'base64url'))
    return Buffer.concat([decipher.update(Buffer.from(text, 'base64url')), decipher.final()]).toString()
  } catch {
    return undefined
  }
}
