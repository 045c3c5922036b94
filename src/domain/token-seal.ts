import { createCipheriv, createDecipheriv } from 'node:crypto'

const FORM = 'v1'
const IV_BYTES = 12

/**
 * Encrypts a text (AES-256-GCM). It opens only with the same key and for the same owner: moved to another row it is
 * worthless.
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

/** Undefined when the key or the owner is another one, or the text was tampered with. */
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
