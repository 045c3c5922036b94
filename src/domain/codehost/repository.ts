/** A repository as people name it. */
export interface NamedRepository {
  /** `owner/name`. */
  name: string
  /** The host of a whole address, without its port; null where only the pair was given. */
  host: string | null
}

/**
 * The repository in what people paste: `owner/name` itself, an https address, or a git@ form. Undefined when it is none
 * of them; it becomes part of an address, so nothing else passes.
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
 * Whether people may see at this host what an API address serves: `api.github.com` is the API of `github.com`, and
 * `git.example.com/api/v3` that of `git.example.com`. Any other address is a proxy's, and says nothing of the host behind.
 */
export function isHostOf(apiUrl: string, host: string): boolean {
  const { hostname, pathname } = new URL(apiUrl)
  const pages = hostname.replace(/^api\./, '')
  const isTold = pages !== hostname || pathname.startsWith('/api/v3')
  return !isTold || [hostname, pages, `www.${pages}`, `ssh.${pages}`].includes(host)
}
