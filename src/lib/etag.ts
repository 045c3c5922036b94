import { hash } from 'node:crypto'

/** The tag of a resource that counts its versions. */
export const etagOf = ({ version }: { version: number }) => `"${version}"`

/** A tag of the whole content. A weak one stands for its meaning: parts of the response may differ. */
export function etagOfContent(content: unknown, { isWeak = false } = {}): string {
  return `${isWeak ? 'W/' : ''}"${hash('sha256', JSON.stringify(content), 'base64url').slice(0, 27)}"`
}

/** Whether an `If-None-Match` header names this tag; weak tags count (RFC 9110, 13.1.2). */
export function matchesEtag(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false
  if (ifNoneMatch.trim() === '*') return true
  return [...ifNoneMatch.matchAll(/"[^"]*"/g)].some(([tag]) => tag === etag.replace(/^W\//, ''))
}

/**
 * The versions that an `If-Match` header allows: undefined for any, `invalid` if it is not a list of tags. A weak tag
 * never matches (RFC 9110, 13.1.1).
 */
export function versionsIn(ifMatch: string | undefined): number[] | undefined | 'invalid' {
  if (ifMatch === undefined || ifMatch.trim() === '*') return undefined
  if (!/^(W\/)?"[^"]*"([ \t]*,[ \t]*(W\/)?"[^"]*")*$/.test(ifMatch.trim())) return 'invalid'
  const tags = ifMatch.match(/(W\/)?"[^"]*"/g) ?? []
  return tags.filter((tag) => /^"[1-9]\d*"$/.test(tag)).map((tag) => Number(tag.slice(1, -1)))
}
