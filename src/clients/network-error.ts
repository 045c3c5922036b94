import { errorChain } from '../lib/error-chain.ts'

/**
 * Describes a network error for users. Addresses and host names of the internal network are omitted, because the
 * reader may not be allowed to know them.
 */
export function describeNetworkError(error: unknown): string {
  for (const { code = '', name } of errorChain(error)) {
    const [, description] =
      DESCRIPTIONS.find(([pattern]) => pattern.test(code) || pattern.test(name ?? '')) ?? []
    if (description) return description
  }
  return 'The connection failed.'
}

/** The innermost error is the most specific: `connect ECONNREFUSED 10.0.0.1:443`. Outer ones repeat the request. */
export const rootCauseOf = (error: unknown): unknown => errorChain(error)[0] ?? error

/** By error codes of Node's sockets, TLS and fetch; certificate codes are matched before other TLS codes. */
const DESCRIPTIONS: [RegExp, string][] = [
  [/^ECONNREFUSED$/, 'The host refused the connection.'],
  [/^(ENOTFOUND|EAI_\w+)$/, 'The host name was not found.'],
  [/^(ETIMEDOUT|UND_ERR_\w+_TIMEOUT)$/, 'The request timed out.'],
  [/^(ECONNRESET|ECONNABORTED|EPIPE|UND_ERR_SOCKET)$/, 'The connection was closed.'],
  [/^(EHOSTUNREACH|ENETUNREACH|EHOSTDOWN|EADDRNOTAVAIL)$/, 'The host is unreachable.'],
  [
    /(^|_)CERT(_|$)|^UNABLE_TO_|^(INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_EXCEEDED|HOSTNAME_MISMATCH)$/,
    'Its certificate is not trusted.',
  ],
  [/^(EPROTO$|ERR_SSL_|ERR_TLS_)/, 'The TLS handshake failed.'],
  [/^(HPE_|HTTPParserError$)/, 'The response is not valid HTTP.'],
]
