import { errorType } from '../lib/error-chain.ts'
import type { Attributes, Work } from '../lib/traced.ts'

/** A request to another system, which learns nothing of the trace: it is somebody else's. */
export const requestTo = (
  { origin, protocol, hostname, port, pathname }: URL,
  { method, path = pathname }: { method: string; path?: string },
): Work => ({
  name: method,
  kind: 'request',
  attributes: {
    'http.request.method': method,
    // Without the query.
    'url.full': `${origin}${path}`,
    'server.address': hostname,
    'server.port': Number(port || { 'http:': 80, 'https:': 443 }[protocol]),
  },
})

/** The end of such a request, for its trace. */
export const responded = (status: number): Attributes => ({
  'http.response.status_code': status,
  ...(status >= 400 && { 'error.type': String(status) }),
})

export const failed = (error: unknown): Attributes => ({ 'error.type': errorType(error) })
