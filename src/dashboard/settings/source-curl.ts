import { shellQuote } from '../components/curl-example.tsx'
import type { SourceWithSecret } from './source-queries.ts'

/** A longer command is no example. */
const MAX_BODY_LENGTH = 2_000

/** A curl command that sends a payload as the sender does. Undefined if it is long, or has to be signed. */
export function sourceCurl(
  { url, secret, verify: { scheme, header, prefix } }: SourceWithSecret,
  payload: unknown,
): string | undefined {
  const body = JSON.stringify(payload)
  if ((scheme !== 'bearer' && scheme !== 'token') || body.length > MAX_BODY_LENGTH) return undefined
  const credential =
    scheme === 'bearer' ? `Authorization: Bearer ${secret}` : `${header}: ${prefix ?? ''}${secret}`
  return [
    `curl -s ${shellQuote(url)}`,
    `-H ${shellQuote(credential)}`,
    `-H 'Content-Type: application/json'`,
    `-d ${shellQuote(body)}`,
  ].join(' \\\n  ')
}
