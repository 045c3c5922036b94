/** Where to ask and as whom. */
export interface HostAccess {
  apiUrl: string
  token: string | null
}

/** What the host says of its limits, as far as it says anything: an enterprise host may be silent. */
export interface HostLimits {
  remaining: number | null
  resetAt: Date | null
}

/** The host said no. Judged in `domain/codehost-refusal.ts`. */
export interface Refusal {
  outcome: 'refused'
  status: number
  /** What the host says of the reason. */
  message: string
  retryAfter: string | null
  /** Where single sign-on has to be passed first. */
  singleSignOn: string | null
  limits: HostLimits
}

/** No answer, or one that cannot be used: another try may help. */
export interface Silence {
  outcome: 'unreachable'
  /** One short reason for people. */
  why: string
}

export interface Repository {
  id: number
  /** `owner/name` */
  name: string
}

interface ItemsPage {
  outcome: 'page'
  /** As they came: `domain/codehost-entry.ts` reads them. */
  items: unknown[]
  /** Where the host says the next page is; null at the end. Always on the host's own origin. */
  next: string | null
  etag: string | null
  /** How large it was. */
  bytes: number
  limits: HostLimits
}

/**
 * The code host as the product needs it. Every method is one request (a moved repository costs one more), ends
 * within a time limit, and answers what happened instead of throwing; only an abort by `signal` throws.
 */
export interface CodeHost {
  findRepository(
    access: HostAccess,
    which: string | number,
    signal?: AbortSignal,
  ): Promise<{ outcome: 'found'; repository: Repository } | Refusal | Silence>

  /** The address of the first page of everything, oldest first. */
  listingUrl(apiUrl: string, repositoryId: number): string
  /** The address of what changed at or after a time, least recent first. */
  updatesUrl(apiUrl: string, repositoryId: number, since: string): string
  /** The address of the one entry that changed last. */
  latestUrl(apiUrl: string, repositoryId: number): string

  readPage(
    access: HostAccess,
    url: string,
    options?: { etag?: string | null; signal?: AbortSignal },
  ): Promise<ItemsPage | { outcome: 'unchanged'; limits: HostLimits } | Refusal | Silence>

  readItem(
    access: HostAccess,
    repositoryId: number,
    number: number,
    signal?: AbortSignal,
  ): Promise<
    | { outcome: 'present'; item: unknown; limits: HostLimits }
    | { outcome: 'transferred' | 'deleted'; limits: HostLimits }
    | Refusal
    | Silence
  >
}
