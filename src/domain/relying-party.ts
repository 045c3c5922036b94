import { isIP } from 'node:net'

/** Where passkeys work: the host name that they belong to, and the origin of the pages that use them. */
export interface RelyingParty {
  /** The host name, also known as RP ID. */
  id: string
  origin: string
}

interface Address {
  publicUrl: string | undefined
  /** Of the page that sent the request. */
  origin: string
}

/**
 * Returns undefined where browsers allow no passkeys: without https, and at an IP address. Without a public URL, only
 * localhost counts: senders choose the name in their requests.
 */
export function relyingPartyOf({ publicUrl, origin: requested }: Address): RelyingParty | undefined {
  const url = URL.parse(publicUrl ?? requested)
  if (!url) return undefined
  const { hostname: id, protocol, origin } = url
  if (id === LOCALHOST) return { id, origin }
  const isName = isIP(id) === 0 && !id.startsWith('[')
  return publicUrl !== undefined && protocol === 'https:' && isName ? { id, origin } : undefined
}

/** The host name of passkeys that work under this public URL. */
export const rpIdOf = (publicUrl: string | undefined): string | undefined =>
  relyingPartyOf({ publicUrl, origin: `http://${LOCALHOST}` })?.id

const LOCALHOST = 'localhost'
