import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { commentJson } from './code-host-comments.ts'
import { type HostItem, type HostRepository, issueJson, written } from './code-host-items.ts'

export interface HostResponse {
  status: number
  headers?: Record<string, string>
  body?: string
}

/** Past this page a number alone is refused; the link carries a cursor. */
const LAST_NUMBERED_PAGE = 100

interface ListRequest {
  api: string
  /** Of the list, with its leading slash. */
  path: string
  query: URLSearchParams
  headers: IncomingHttpHeaders
  /** Whether pages link to the last one. */
  hasLast?: boolean | undefined
}

/** A page of issues and pull requests. */
export function issuesPage(
  repository: HostRepository,
  { api, path, query, headers, hasLast }: ListRequest,
): HostResponse {
  const sortedBy = query.get('sort') === 'updated' ? 'updatedAt' : 'createdAt'
  const direction = query.get('direction') === 'asc' ? 1 : -1
  const all = [...repository.items.values()]
    .filter((item) => !item.gone)
    .filter(({ state }) => ['all', state].includes(query.get('state') ?? 'open'))
    .filter(isChangedSince(query))
    .sort((a, b) => direction * (a[sortedBy] - b[sortedBy] || a.number - b.number))
    .map((item) => () => issueJson(item, { api, repository }))
  return listPage(all, { api, path, query, headers, hasLast })
}

/** A page of the comments of a repository, or of one issue or pull request. */
export function commentsPage(
  repository: HostRepository,
  { number, api, path, query, headers }: ListRequest & { number?: number },
): HostResponse {
  const sortedBy = query.get('sort') === 'updated' ? 'updatedAt' : 'createdAt'
  // As documented: without `sort`, the direction is ignored.
  const direction = query.has('sort') && query.get('direction') === 'desc' ? -1 : 1
  const all = [...repository.comments.values()]
    .filter((comment) => number === undefined || comment.number === number)
    .filter((comment) => !repository.items.get(comment.number)?.gone)
    .filter(isChangedSince(query))
    .sort((a, b) => direction * (a[sortedBy] - b[sortedBy] || (a.id < b.id ? -1 : 1)))
    .map((comment) => () => commentJson(comment, { api, repository }))
  return listPage(all, { api, path, query, headers })
}

// As on the real one: the beginning of time finds nothing.
function isChangedSince(query: URLSearchParams): ({ updatedAt }: { updatedAt: number }) => boolean {
  const since = Date.parse(query.get('since') ?? '')
  return ({ updatedAt }) => Number.isNaN(since) || (since > 0 && updatedAt >= since)
}

/** A page of a list, with its links and an ETag of its own for each token. */
function listPage(
  all: (() => object)[],
  { api, path, query, headers, hasLast = true }: ListRequest,
): HostResponse {
  const perPage = Math.min(Number(query.get('per_page') ?? 30), 100)
  const page = Number(query.get('page') ?? 1)
  if (page > LAST_NUMBERED_PAGE && query.get('after') === null) {
    return refused(422, 'Pagination with the page parameter is not supported for large datasets.')
  }
  const start = (page - 1) * perPage
  const body = written(all.slice(start, start + perPage).map((json) => json()))
  const etag = `W/"${createHash('sha256')
    .update(body)
    .update(headers.authorization ?? '')
    .digest('hex')}"`
  if (headers['if-none-match'] === etag) return { status: 304, headers: { etag } }
  const last = Math.ceil(all.length / perPage)
  const to = (number: number, rel: string) => {
    const target = new URL(api + path)
    for (const [name, value] of query)
      if (!['page', 'after'].includes(name)) target.searchParams.set(name, value)
    if (number > LAST_NUMBERED_PAGE) target.searchParams.set('after', `cursor-${number}`)
    target.searchParams.set('page', String(number))
    return `<${target.href}>; rel="${rel}"`
  }
  const link = [
    page > 1 ? to(page - 1, 'prev') : [],
    page < last ? [to(page + 1, 'next'), hasLast ? to(last, 'last') : []].flat() : [],
    page > 1 ? to(1, 'first') : [],
  ].flat()
  return { status: 200, headers: { etag, ...(link.length > 0 && { link: link.join(', ') }) }, body }
}

/** How many issues or pull requests of a repository a search finds; the items are left out. */
export function searchCount(repositories: HostRepository[], query: URLSearchParams): HostResponse {
  const [, name, kind] = /^repo:(\S+) is:(issue|pull-request)$/.exec(query.get('q') ?? '') ?? []
  const repository = repositories.find((each) => each.name === name)
  if (!repository) return refused(422, 'Validation Failed')
  const found = [...repository.items.values()].filter(
    (item) => !item.gone && (item.mergedAt !== undefined) === (kind === 'pull-request'),
  )
  return ok({ total_count: found.length, incomplete_results: false, items: [] })
}

export const ok = (json: object, status = 200) => ({ status, body: written(json) })

export const refused = (status: number, message: string, headers: Record<string, string> = {}) => ({
  status,
  headers,
  body: JSON.stringify({
    message,
    documentation_url: 'https://docs.codehost.example/rest',
    status: String(status),
  }),
})

export const moved = (location: string) => ({
  status: 301,
  headers: { location },
  body: JSON.stringify({
    message: 'Moved Permanently',
    url: location,
    documentation_url: 'https://docs.codehost.example/v3/#http-redirects',
  }),
})

/** For an issue or pull request that does not exist or no longer does. */
export function gone(item: HostItem | undefined, api: string): HostResponse {
  if (item?.gone === 'deleted') return refused(410, 'This issue was deleted')
  return item?.gone === 'transferred' ? moved(`${api}/repositories/9999/issues/1`) : refused(404, 'Not Found')
}
