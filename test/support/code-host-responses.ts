import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { type HostRepository, issueJson, written } from './code-host-items.ts'

export interface HostResponse {
  status: number
  headers?: Record<string, string>
  body?: string
}

/** Past this page a number alone is refused; the link carries a cursor. */
const LAST_NUMBERED_PAGE = 100

/** A page of issues and pull requests, with its links and an ETag of its own for each token. */
export function issuesPage(
  repository: HostRepository,
  {
    api,
    query,
    headers,
    hasLast = true,
  }: { api: string; query: URLSearchParams; headers: IncomingHttpHeaders; hasLast?: boolean },
): HostResponse {
  const perPage = Math.min(Number(query.get('per_page') ?? 30), 100)
  const page = Number(query.get('page') ?? 1)
  const after = query.get('after')
  if (page > LAST_NUMBERED_PAGE && after === null) {
    return refused(422, 'Pagination with the page parameter is not supported for large datasets.')
  }
  const since = Date.parse(query.get('since') ?? '')
  const sortedBy = query.get('sort') === 'updated' ? 'updatedAt' : 'createdAt'
  const direction = query.get('direction') === 'asc' ? 1 : -1
  const all = [...repository.items.values()]
    .filter((item) => !item.gone)
    .filter(({ state }) => ['all', state].includes(query.get('state') ?? 'open'))
    // As on the real one: the beginning of time finds nothing.
    .filter(({ updatedAt }) => Number.isNaN(since) || (since > 0 && updatedAt >= since))
    .sort((a, b) => direction * (a[sortedBy] - b[sortedBy] || a.number - b.number))
  const start = (page - 1) * perPage
  const body = written(all.slice(start, start + perPage).map((item) => issueJson(item, { api, repository })))
  const etag = `W/"${createHash('sha256')
    .update(body)
    .update(headers.authorization ?? '')
    .digest('hex')}"`
  if (headers['if-none-match'] === etag) return { status: 304, headers: { etag } }
  const last = Math.ceil(all.length / perPage)
  const to = (number: number, rel: string) => {
    const target = new URL(`${api}/repositories/${repository.id}/issues`)
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

export const ok = (json: object) => ({ status: 200, body: written(json) })

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
