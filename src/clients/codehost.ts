/** A GitHub App and one of its installations. */
export interface AppCredentials {
  appId: number
  installationId: number
  /** PEM, in PKCS#8. */
  privateKey: string
}

/** The API URL of a code host, and the token or the GitHub App to use. */
export interface HostAccess {
  apiUrl: string
  token: string | null
  app?: AppCredentials | undefined
}

/** The host's rate limits as far as it sends them: enterprise hosts may send none. */
export interface HostLimits {
  remaining: number | null
  resetAt: Date | null
}

/** The host returned an error status. `domain/codehost/refusal.ts` interprets it. */
export interface Refusal {
  outcome: 'refused'
  status: number
  /** The host's error message. */
  message: string
  retryAfter: string | null
  /** The URL where single sign-on has to be authorized first. */
  singleSignOn: string | null
  limits: HostLimits
  /** The host refused the GitHub App a token. */
  isTokenRequest?: true
}

/** No response, or an invalid one: a retry may help. */
export interface Unreachable {
  outcome: 'unreachable'
  /** A short reason for users. */
  reason: string
}

export interface Repository {
  id: number
  /** `owner/name` */
  name: string
  /** Whether the host says that these credentials may not change issues. Some hosts do not say it. */
  isReadOnly: boolean
}

interface ItemsPage {
  outcome: 'page'
  /** Unparsed; `domain/codehost/item.ts` and `comment.ts` parse them. */
  items: unknown[]
  /** The URL of the next page, always on the host's own origin; null at the end. */
  next: string | null
  /** The number of the last page, if the host sends it. */
  lastPage: number | null
  etag: string | null
  /** The host's time, ISO 8601 to the second: no `updated_at` is later. Null if it does not send it. */
  date: string | null
  /** Size of the response body. */
  bytes: number
  limits: HostLimits
}

/**
 * The code host as a port. Each method sends one request (one more for a moved repository), has a timeout, and returns
 * the outcome instead of throwing; only an abort by `signal` throws.
 */
export interface CodeHost {
  /** Whether a delivery was signed with one of these secrets; compared in constant time. Sends no request. */
  isSignedWith(secrets: string[], delivery: { body: Buffer; signature: string }): Promise<boolean>

  findRepository(
    access: HostAccess,
    options: { nameOrId: string | number; signal?: AbortSignal | undefined },
  ): Promise<{ outcome: 'found'; repository: Repository } | Refusal | Unreachable>

  /** URL of the first page of all items, oldest first. */
  listingUrl(apiUrl: string, repositoryId: number): string
  /** URL of the items changed at or after a time, oldest change first. */
  updatesUrl(apiUrl: string, options: { repositoryId: number; since: string }): string
  /** URL of the most recently changed item. */
  latestUrl(apiUrl: string, repositoryId: number): string

  /** URL of the first page of all comments by id, or of those changed at or after a time, oldest change first. */
  commentsUrl(apiUrl: string, options: { repositoryId: number; since?: string }): string
  /** URL of the most recently changed comment. */
  latestCommentUrl(apiUrl: string, repositoryId: number): string

  readPage(
    access: HostAccess,
    options: { url: string; etag?: string | null; signal?: AbortSignal },
  ): Promise<ItemsPage | { outcome: 'unchanged'; limits: HostLimits } | Refusal | Unreachable>

  readItem(
    access: HostAccess,
    options: { repositoryId: number; number: number; signal?: AbortSignal | undefined },
  ): Promise<
    | { outcome: 'present'; item: unknown; limits: HostLimits }
    | { outcome: 'transferred'; limits: HostLimits }
    | Missing
    | Refusal
    | Unreachable
  >

  /** How many issues or pull requests the search of the host finds in a repository. */
  countItems(
    access: HostAccess,
    options: { repository: string; kind: 'issue' | 'pull-request'; signal?: AbortSignal | undefined },
  ): Promise<{ outcome: 'counted'; count: number } | Refusal | Unreachable>

  /** Closes or reopens an issue. */
  changeIssue(
    access: HostAccess,
    options: {
      repositoryId: number
      number: number
      state: 'open' | 'closed'
      /** Of closing. */
      reason: 'completed' | 'not_planned' | 'duplicate'
      signal?: AbortSignal | undefined
    },
  ): Promise<{ outcome: 'changed'; item: unknown; limits: HostLimits } | Refusal | Unreachable>
  readComment(
    access: HostAccess,
    options: { repositoryId: number; externalId: string; signal?: AbortSignal | undefined },
  ): Promise<{ outcome: 'present'; comment: unknown; limits: HostLimits } | Missing | Refusal | Unreachable>

  /** Unparsed; `domain/codehost/comment.ts` parses it. */
  createComment(
    access: HostAccess,
    options: { repositoryId: number; number: number; body: string; signal?: AbortSignal | undefined },
  ): Promise<WrittenComment | Refusal | Unreachable>

  changeComment(
    access: HostAccess,
    options: { repositoryId: number; externalId: string; body: string; signal?: AbortSignal | undefined },
  ): Promise<WrittenComment | Missing | Refusal | Unreachable>

  deleteComment(
    access: HostAccess,
    options: { repositoryId: number; externalId: string; signal?: AbortSignal | undefined },
  ): Promise<{ outcome: 'erased'; limits: HostLimits } | Missing | Refusal | Unreachable>

  /** URL of the first page of an issue's comments that changed at or after a time. */
  commentsOfUrl(
    apiUrl: string,
    options: { repositoryId: number; number: number; since: string | null },
  ): string
}

/** Deleted, or the credentials have no access: `services/codehost/reading.ts` finds out which. */
export interface Missing {
  outcome: 'missing'
  limits: HostLimits
}

interface WrittenComment {
  outcome: 'written'
  comment: unknown
  limits: HostLimits
}
