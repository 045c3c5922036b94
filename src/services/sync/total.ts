import type { CodeHost, HostAccess } from '../../clients/codehost.ts'
import type { CodehostItem } from '../../domain/codehost/item.ts'

interface LatestItem {
  items: CodehostItem[]
  next: string | null
  lastPage: number | null
}

/**
 * How many issues and pull requests a repository has, or null if the host doesn't tell. The page of the latest item has
 * one item, so its number of pages is the total. GitHub no longer sends it for this list, but its search tells.
 */
export async function totalOf(
  { items: [latest], next, lastPage }: LatestItem,
  { host, access, signal }: { host: CodeHost; access: HostAccess; signal: AbortSignal },
): Promise<number | null> {
  if (lastPage !== null) return lastPage
  if (next === null) return latest ? 1 : 0
  if (!latest?.repository) return null
  let total = 0
  // Search rejects a query for both with some kinds of tokens.
  for (const kind of ['issue', 'pull-request'] as const) {
    const found = await host.countItems(access, { repository: latest.repository, kind, signal })
    // It is only for display, and search has a rate limit of its own: the run continues without it.
    if (found.outcome !== 'counted') return null
    total += found.count
  }
  return total
}
