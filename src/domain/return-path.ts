const MAX_LENGTH = 2_000
const BASE = 'http://inlet.invalid'

/**
 * Returns a path of this service as it is sent to browsers, or undefined for anything else. Browsers read a backslash as
 * a slash, and omit tabs and line breaks, so that more than `//host` leads to another host.
 */
export function returnPathOf(text: string): string | undefined {
  if (text.length > MAX_LENGTH || !/^\/(?![/\\])/.test(text) || /[\\\p{Cc}]/u.test(text)) return undefined
  const url = URL.parse(text, BASE)
  const isHere = url?.origin === BASE && !url.pathname.startsWith('//')
  return isHere ? url.pathname + url.search + url.hash : undefined
}
