import { hash } from 'node:crypto'

/** An API key in the making: what is shown once, and what is kept of it. */
export interface Secret {
  /** The whole string; shown once, never kept. */
  text: string
  hash: string
  prefix: string
  lastFour: string
}

/** `inl_<prefix>_<secret>` of 4 and 32 random bytes: 256 bits that cannot be guessed, and a name to find it by. */
export function keySecret(randomBytes: (size: number) => Buffer): Secret {
  const prefix = randomBytes(4).toString('hex')
  return describeSecret(`inl_${prefix}_${randomBytes(32).toString('base64url')}`, prefix)
}

/** A secret that somebody else made up. */
export const describeSecret = (text: string, prefix = text.slice(0, 4)): Secret => ({
  text,
  hash: hashOf(text),
  prefix,
  lastFour: text.slice(-4),
})

/** SHA-256 is enough: there is nothing to guess in 256 random bits, and the look-up is by the hash itself. */
export const hashOf = (text: string) => hash('sha256', text)
