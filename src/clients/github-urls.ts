import type { CodeHost, HostAccess } from './codehost.ts'

const PER_PAGE = '100'

/** The URLs of lists: by the id of the repository, which a rename does not change. */
export const githubUrls: Pick<
  CodeHost,
  'listingUrl' | 'updatesUrl' | 'latestUrl' | 'commentsUrl' | 'latestCommentUrl' | 'commentsOfUrl'
> = {
  listingUrl: (apiUrl, repositoryId) =>
    issuesUrl(apiUrl, { repositoryId, query: { sort: 'created', direction: 'asc' } }),
  updatesUrl: (apiUrl, { repositoryId, since }) =>
    issuesUrl(apiUrl, { repositoryId, query: { sort: 'updated', direction: 'asc', since } }),
  latestUrl: (apiUrl, repositoryId) =>
    issuesUrl(apiUrl, { repositoryId, query: { sort: 'updated', direction: 'desc', per_page: '1' } }),
  // Without a sort they are in the order of their ids.
  commentsUrl: (apiUrl, { repositoryId, since }) =>
    commentsUrl(apiUrl, {
      repositoryId,
      query: since === undefined ? {} : { sort: 'updated', direction: 'asc', since },
    }),
  latestCommentUrl: (apiUrl, repositoryId) =>
    commentsUrl(apiUrl, { repositoryId, query: { sort: 'updated', direction: 'desc', per_page: '1' } }),
  commentsOfUrl: (apiUrl, { repositoryId, number, since }) => {
    const query = new URLSearchParams({ per_page: PER_PAGE, ...(since !== null && { since }) })
    return `${apiUrl}/repositories/${repositoryId}/issues/${number}/comments?${query}`
  },
}

/** The URL of one comment. */
export const commentUrl = (
  { apiUrl }: HostAccess,
  { repositoryId, externalId }: { repositoryId: number; externalId: string },
) => `${apiUrl}/repositories/${repositoryId}/issues/comments/${externalId}`

/** Whether a URL belongs to the API: the same origin, and below its path. */
export function isWithin(apiUrl: string, url: string): boolean {
  const base = new URL(apiUrl)
  const target = new URL(url)
  const path = base.pathname.replace(/\/?$/, '/')
  return target.origin === base.origin && target.pathname.startsWith(path) && target.username === ''
}

/** The path of the repository of an item's or comment's URL, below that of the API; undefined for any other URL. */
export function itemPathOf(url: string, { apiUrl }: Pick<HostAccess, 'apiUrl'>): string | undefined {
  if (!URL.canParse(url) || !isWithin(apiUrl, url)) return undefined
  const path = new URL(url).pathname.slice(new URL(apiUrl).pathname.replace(/\/?$/, '/').length)
  return /^(repositories\/\d+|repos\/[^/]+\/[^/]+)\/(?:issues|pulls)\/(?:comments\/)?\d+$/.exec(path)?.[1]
}

interface ListOptions {
  repositoryId: number
  query: Record<string, string>
}

const issuesUrl = (apiUrl: string, { repositoryId, query }: ListOptions) =>
  `${apiUrl}/repositories/${repositoryId}/issues?${new URLSearchParams({ state: 'all', per_page: PER_PAGE, ...query })}`

const commentsUrl = (apiUrl: string, { repositoryId, query }: ListOptions) =>
  `${apiUrl}/repositories/${repositoryId}/issues/comments?${new URLSearchParams({ per_page: PER_PAGE, ...query })}`
