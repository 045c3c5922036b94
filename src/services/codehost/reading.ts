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
 * those of the repository can be read.
 */
export async function readItem(
  host: Host,
  { access, ...request }: ItemRequest,
): Promise<SeenItem | Refusal | Unreachable> {
  const response = await host.readItem(access, request)
  if (response.outcome !== 'missing') return response
  const url = host.latestUrl(access.apiUrl, request.repositoryId)
  const page = await host.readPage(access, { url, signal: request.signal })
  return isFailure(page) ? page : { outcome: 'deleted' }
}
