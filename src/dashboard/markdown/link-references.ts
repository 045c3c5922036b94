import type { ElementContent, Root, RootContent } from 'hast'

/** Rendering is counted by nodes, and a text may consist of references only. */
const MAX_LINKS = 500

const CODE_OR_LINK = new Set(['code', 'pre', 'a'])
/** `#12` and `@ada`, but not parts of words, addresses, or names of packages. */
const REFERENCE = /(?<![\w@#&/.-])(?:#(\d{1,9})|@([a-z\d](?:-?[a-z\d]){0,38}))(?![\w@/-]|\.\w)/gi

/**
 * Links the issues, pull requests, and users that the text of an item names to its code host. Texts in code and in links
 * are kept.
 * @param itemUrl the URL of the issue or pull request; with another one, the chunks are returned as they are.
 */
export function linkReferences(chunks: Root[], itemUrl: string | null): Root[] {
  const [, web, repository] =
    /^(https?:\/\/.+)\/([^/]+\/[^/]+)\/(?:issues|pull)\/\d+$/i.exec(itemUrl ?? '') ?? []
  if (!web || !repository) return chunks
  let left = MAX_LINKS
  return chunks.map((chunk) => ({
    ...chunk,
    children: chunk.children.flatMap((child): RootContent[] =>
      child.type === 'doctype' ? [child] : linked(child),
    ),
  }))

  function linked(node: ElementContent): ElementContent[] {
    if (node.type === 'text') return linkedText(node.value)
    if (node.type !== 'element' || CODE_OR_LINK.has(node.tagName)) return [node]
    return [{ ...node, children: node.children.flatMap(linked) }]
  }

  function linkedText(value: string): ElementContent[] {
    const parts: ElementContent[] = []
    let end = 0
    for (const { 0: reference, 1: number, 2: user, index } of value.matchAll(REFERENCE)) {
      if (left-- <= 0) break
      const href = number ? `${web}/${repository}/issues/${number}` : `${web}/${user}`
      const text = { type: 'text' as const, value: reference }
      if (index > end) parts.push({ type: 'text', value: value.slice(end, index) })
      parts.push({ type: 'element', tagName: 'a', properties: { href }, children: [text] })
      end = index + reference.length
    }
    if (end < value.length || parts.length === 0) parts.push({ type: 'text', value: value.slice(end) })
    return parts
  }
}
