/**
 * `owner/name` out of what people paste: the pair itself, an https address, or a git@ form. Undefined when it is
 * none of them; it becomes part of an address, so nothing else passes.
 */
export function repositoryNameOf(given: string): string | undefined {
  const text = given.trim()
  const path =
    /^https?:\/\/[^/@?#\s]+\/([^/?#\s]+\/[^/?#\s]+?)\/?$/i.exec(text)?.[1] ??
    /^(?:ssh:\/\/)?git@[\w.-]+(?::\d+\/|[:/])([^/?#\s]+\/[^/?#\s]+?)\/?$/i.exec(text)?.[1] ??
    text
  const isAddress = path !== text
  const [, owner = '', name = ''] = /^([A-Za-z0-9][\w-]{0,99})\/([\w.-]{1,100})$/.exec(path) ?? []
  const bare = isAddress ? name.replace(/\.git$/i, '') : name
  return owner === '' || /^\.*$/.test(bare) ? undefined : `${owner}/${bare}`
}
