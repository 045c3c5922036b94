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

interface ListOptions {
  repositoryId: number
  query: Record<string, string>
}

const issuesUrl = (apiUrl: string, { repositoryId, query }: ListOptions) =>
  `${apiUrl}/repositories/${repositoryId}/issues?${new URLSearchParams({ state: 'all', per_page: PER_PAGE, ...query })}`

const commentsUrl = (apiUrl: string, { repositoryId, query }: ListOptions) =>
  `${apiUrl}/repositories/${repositoryId}/issues/comments?${new URLSearchParams({ per_page: PER_PAGE, ...query })}`
