/** A repository as entered by a user. */
export interface NamedRepository {
  /** `owner/name`. */
  name: string
  /** The host of a full URL, without its port; null if only `owner/name` was given. */
  host: string | null
}

/**
 * Parses `owner/name`, an https URL or a git@ address. Returns undefined for anything else: the result becomes part of
 * a URL, so nothing else may pass.
 */
export function repositoryOf(given: string): NamedRepository | undefined {
  const text = given.trim()
  const [, host = null, path = text] =
    /^https?:\/\/([^/@?#\s:]+)(?::\d+)?\/([^/?#\s]+\/[^/?#\s]+?)\/?$/i.exec(text) ??
    /^(?:ssh:\/\/)?git@([\w.-]+)(?::\d+\/|[:/])([^/?#\s]+\/[^/?#\s]+?)\/?$/i.exec(text) ??
    []
  const [, owner = '', name = ''] = /^([A-Za-z0-9][\w-]{0,99})\/([\w.-]{1,100})$/.exec(path) ?? []
  const bare = host === null ? name : name.replace(/\.git$/i, '')
  if (owner === '' || /^\.*$/.test(bare)) return undefined
  return { name: `${owner}/${bare}`, host: host?.toLowerCase() ?? null }
}

/**
 * Whether the web host belongs to an API URL: `api.github.com` serves `github.com`, `git.example.com/api/v3` serves
 * `git.example.com`. Any other URL is a proxy's and says nothing about the host behind it.
 */
export function isHostOf(apiUrl: string, host: string): boolean {
  const { hostname, pathname } = new URL(apiUrl)
  const pages = hostname.replace(/^api\./, '')
  const isKnown = pages !== hostname || pathname.startsWith('/api/v3')
  return !isKnown || [hostname, pages, `www.${pages}`, `ssh.${pages}`].includes(host)
}
