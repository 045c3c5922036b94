/** Where to go after the sign-in: the address that a page named, if it is one of this service. */
export function ownAddress(next: unknown, origin: string): URL {
  const url = typeof next === 'string' ? URL.parse(next, origin) : null
  // Not by its origin alone: a `blob:` address has that of its page.
  return url?.href.startsWith(`${origin}/`) ? url : new URL('/', origin)
}

export const pathOf = ({ pathname, search, hash }: URL) => pathname + search + hash
