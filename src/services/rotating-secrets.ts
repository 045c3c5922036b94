import type { ConnectionRow } from '../repositories/codehost/connections.ts'

type Previous = ConnectionRow['previousWebhookSecrets']

/** A secret with those that it replaced, hashed or encrypted. Empty or null: there is none. */
interface Rotating {
  secret: string | null
  previous: Previous
}

/** A stored text. */
interface Encrypted {
  owner: string
  /** What it is, such as `token`. */
  name: string
  /** When it is of no use any more; null or absent: never. */
  until?: Date | null
}

/** Returns a stored text encrypted with the first key; the same text if it cannot be decrypted. */
export type Reencrypt = (sealed: string, encrypted: Encrypted) => string

/** The replaced secrets that are still valid, the newest first. */
export const liveOf = (previous: Previous, now: Date): Previous =>
  previous.filter(({ until }) => new Date(until) > now)

/** All that are valid, the newest first. */
export const validOf = ({ secret, previous }: Rotating, now: Date): string[] =>
  [secret, ...liveOf(previous, now).map(({ secret }) => secret)].flatMap((one) => one || [])

/** What a rotation replaces: the secret stays valid for the overlap, as those before it do. Without one, all end. */
export function replacedBy(
  { secret, previous }: Rotating,
  { now, overlapSeconds }: { now: Date; overlapSeconds: number },
): Previous {
  if (overlapSeconds === 0) return []
  const until = new Date(now.getTime() + overlapSeconds * 1000).toISOString()
  return [...(secret ? [{ secret, until }] : []), ...liveOf(previous, now)]
}

export const reencryptedPrevious = (
  previous: Previous,
  { reencrypt, ...about }: { reencrypt: Reencrypt; owner: string; name: string },
): Previous =>
  previous.map(({ secret, until }) => ({
    secret: reencrypt(secret, { ...about, until: new Date(until) }),
    until,
  }))
