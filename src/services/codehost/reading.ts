import type { CodeHost, HostAccess, HostLimits, Missing } from '../../clients/codehost.ts'
import { isFailure } from './failures.ts'

/*
 * To credentials that have lost their access everything is missing, and any request may be the first with access again.
 * What is missing was deleted only if it still is after something that contains it could be read.
 */

type Host = Pick<CodeHost, 'readItem' | 'readPage' | 'latestUrl'>

interface RepositoryRequest {
  access: HostAccess
  repositoryId: number
  signal: AbortSignal
}

type ItemRequest = RepositoryRequest & { number: number }

/** Of a comment on this item. */
type CommentRequest = ItemRequest & { externalId: string }

interface Response {
  outcome: string
}

interface Deleted {
  outcome: 'deleted'
  limits: HostLimits
}

/** Reads an issue or pull request; one that is missing, again after its repository. */
export async function readItem(host: Host, { access, ...request }: ItemRequest) {
  const first = await host.readItem(access, request)
  if (!isMissing(first)) return first
  const url = host.latestUrl(access.apiUrl, request.repositoryId)
  const page = await host.readPage(access, { url, signal: request.signal })
  if (isFailure(page)) return page
  return asDeleted(await host.readItem(access, request))
}

/** Reads a comment; one that is missing, again after its item. Without its item it is `orphaned`, not deleted. */
export async function readComment(
  host: Host & Pick<CodeHost, 'readComment'>,
  { number, externalId, ...about }: CommentRequest,
) {
  const { access, repositoryId, signal } = about
  const read = () => host.readComment(access, { repositoryId, externalId, signal })
  const first = await read()
  if (!isMissing(first)) return first
  const item = await readItem(host, { ...about, number })
  if (isFailure(item)) return item
  return item.outcome === 'present' ? asDeleted(await read()) : { outcome: 'orphaned' as const }
}

/**
 * Reads several of one repository; those that are missing, again after the repository. Ends with an undefined response if
 * a request returns undefined.
 */
export async function* readBatch<Key, T extends Response>(
  keys: Key[],
  {
    read,
    readRepository,
  }: { read(key: Key): Promise<T | Missing | undefined>; readRepository(): Promise<Response | undefined> },
): AsyncGenerator<{ key: Key; response: T | Deleted | undefined }, void> {
  const missing: Key[] = []
  for (const key of keys) {
    const response = await read(key)
    if (response && isMissing(response)) missing.push(key)
    else yield { key, response }
    if (!response) return
  }
  const page = missing.length > 0 ? await readRepository() : undefined
  for (const key of missing) {
    const response = page && (await read(key))
    yield { key, response: response && asDeleted(response) }
    if (!response) return
  }
}

const isMissing = (response: Response): response is Missing => response.outcome === 'missing'

/** A response to the second request. */
const asDeleted = <T extends Response>(response: T | Missing): T | Deleted =>
  isMissing(response) ? { outcome: 'deleted', limits: response.limits } : response
