import type { CodeHost, HostAccess, Refusal, Unreachable } from '../../clients/codehost.ts'
import { isFailure } from './failures.ts'

type Host = Pick<CodeHost, 'readItem' | 'readPage' | 'latestUrl'>

interface ItemRequest {
  access: HostAccess
  repositoryId: number
  number: number
  signal: AbortSignal
}

/** An item, or what became of it. */
type SeenItem =
  | Extract<Awaited<ReturnType<CodeHost['readItem']>>, { outcome: 'present' }>
  | { outcome: 'transferred' | 'deleted' }

/**
 * Reads an issue or pull request. To credentials that have lost their access each one is missing: it was deleted only if
 * it is missing after others of its repository were read. Before, the access may have been lost, and have returned since.
 */
export async function readItem(
  host: Host,
  { access, ...request }: ItemRequest,
): Promise<SeenItem | Refusal | Unreachable> {
  const response = await host.readItem(access, request)
  if (response.outcome !== 'missing') return response
  const url = host.latestUrl(access.apiUrl, request.repositoryId)
  const page = await host.readPage(access, { url, signal: request.signal })
  if (isFailure(page)) return page
  const again = await host.readItem(access, request)
  return again.outcome === 'missing' ? { outcome: 'deleted' } : again
}
