/** The target of the first link with this relation in a Link header (RFC 8288). */
export function linkIn(header: string | undefined, rel: 'next' | 'last'): string | null {
  const isRel = new RegExp(String.raw`;\s*rel\s*=\s*"?(?:[^"]*\s)?${rel}(?:\s[^"]*)?"?\s*(?:;|$)`, 'i')
  for (const [, target, parameters] of (header ?? '').matchAll(/<([^>]*)>((?:\s*;[^,;]*)*)/g)) {
    if (isRel.test(parameters ?? '')) return target ?? null
  }
  return null
}
