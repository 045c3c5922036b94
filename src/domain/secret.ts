import { hash } from 'node:crypto'

/** A new API key: what is shown once, and what is stored. */
export interface Secret {
  /** The whole key; shown once, never stored. */
  text: string
  hash: string
  prefix: string
  lastFour: string
}

/** `inl_<prefix>_<secret>` of 4 and 32 random bytes: a prefix for lookup and display, and 256 bits of entropy. */
export function keySecret(randomBytes: (size: number) => Buffer): Secret {
  const prefix = randomBytes(4).toString('hex')
  return describeSecret(`inl_${prefix}_${randomBytes(32).toString('base64url')}`, prefix)
}

/** The stored form of a secret, also of one that was chosen by somebody else. */
export const describeSecret = (text: string, prefix = text.slice(0, 4)): Secret => ({
  text,
  hash: hashOf(text),
  prefix,
  lastFour: text.slice(-4),
})

/** SHA-256 is sufficient: 256 random bits cannot be guessed, and the lookup is by the hash itself. */
export const hashOf = (text: string) => hash('sha256', text)
