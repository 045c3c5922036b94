import type { Element, ElementContent, Nodes as HastNodes, Root, RootContent } from 'hast'
import type { Nodes as MdastNodes } from 'mdast'
import { fromMarkdown } from 'mdast-util-from-markdown'
import { gfmFromMarkdown } from 'mdast-util-gfm'
import { toHast } from 'mdast-util-to-hast'
import { gfm } from 'micromark-extension-gfm'

/** More elements and texts than this are not drawn: 5,000 take a slow computer about 100 ms. */
export const MAX_NODES = 5_000
/** Characters of all texts and addresses together; a reference repeats the address it names. */
const MAX_CHARACTERS = 1_000_000
/** Drawing is recursive, and nobody reads the hundredth quotation in a quotation. */
const MAX_DEPTH = 100
/** What is drawn in one go. */
const CHUNK_NODES = 500

/** What a text becomes: pieces to be drawn one after the other, or why it is shown as it came. */
export type Parsed = { chunks: Root[] } | { plainBecause: PlainReason }
export type PlainReason = 'too-complex' | 'too-slow' | 'not-available'

/** Markdown as a tree of elements. It is never HTML: tags are text, and addresses are those of the web or nothing. */
export function parseMarkdown(text: string): Parsed {
  try {
    const source = fromMarkdown(text, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] })
    // Before it is translated, which fills short rows of tables and repeats addresses, and after.
    if (!isWithinLimits(costOfSource(source))) return { plainBecause: 'too-complex' }
    const tree = toHast(source, { allowDangerousHtml: true })
    const blocks = tree.type === 'root' ? tree.children : [tree as RootContent]
    const safe = blocks.flatMap((block) => safely(block) ?? [])
    if (!isWithinLimits(costOf({ type: 'root', children: safe }, nodeCost))) {
      return { plainBecause: 'too-complex' }
    }
    return { chunks: chunksOf(safe) }
  } catch (error) {
    if (error instanceof RangeError) return { plainBecause: 'too-complex' }
    throw error
  }
}

interface Cost {
  nodes: number
  characters: number
  depth: number
}

const isWithinLimits = ({ nodes, characters, depth }: Cost) =>
  nodes <= MAX_NODES && characters <= MAX_CHARACTERS && depth <= MAX_DEPTH

interface Parent {
  children?: Parent[]
}

/** What a tree adds up to; it stops at the first node beyond a limit. */
function costOf<Node>(root: Node, costOfNode: (node: Node) => { nodes: number; characters: number }): Cost {
  const cost = { nodes: 0, characters: 0, depth: 0 }
  let level = [root]
  while (level.length > 0 && isWithinLimits(cost)) {
    const next: Node[] = []
    for (const node of level) {
      const { nodes, characters } = costOfNode(node)
      cost.nodes += nodes
      cost.characters += characters
      if (!isWithinLimits(cost)) break
      for (const child of ((node as Parent).children ?? []) as Node[]) next.push(child)
    }
    cost.depth++
    level = next
  }
  return cost
}

const nodeCost = (node: HastNodes) => ({
  nodes: 1,
  characters: node.type === 'text' ? node.value.length : 0,
})

/** What a source will cost as elements, at least. */
function costOfSource(root: MdastNodes): Cost {
  const addresses = new Map<string, number>()
  costOf(root, (node) => {
    if (node.type === 'definition') {
      addresses.set(node.identifier, node.url.length + (node.title?.length ?? 0))
    }
    return { nodes: 0, characters: 0 }
  })
  return costOf(root, (node) => ({
    // Rows are as wide as their table, whatever they hold.
    nodes: node.type === 'table' ? node.children.length * (node.align?.length ?? 1) : 1,
    characters:
      'identifier' in node && node.type !== 'definition'
        ? (addresses.get(node.identifier) ?? 0)
        : 'value' in node
          ? node.value.length
          : 0,
  }))
}

/** Without what a page does not need, with tags as text, and with no address but those that lead to the web. */
function safely(node: RootContent): ElementContent | undefined {
  if (node.type === 'raw') return { type: 'text', value: node.value }
  if (node.type === 'text') return { type: 'text', value: node.value }
  if (node.type !== 'element') return undefined
  const properties = { ...node.properties }
  for (const name of ['href', 'src'])
    if (name in properties) properties[name] = webAddress(String(properties[name]))
  return {
    type: 'element',
    tagName: node.tagName,
    properties,
    children: node.children.flatMap((child) => safely(child) ?? []),
  } satisfies Element
}

/** An address of the web, of mail, or of this page; another (javascript:, data:) becomes empty. */
function webAddress(address: string): string {
  const [scheme] = /^[^/?#:]*:/.exec(address) ?? []
  return scheme === undefined || /^(https?|ircs?|mailto|xmpp):$/i.test(scheme) ? address : ''
}

/** Blocks together up to a size, each whole. */
function chunksOf(blocks: ElementContent[]): Root[] {
  const chunks: Root[] = []
  let size = Number.POSITIVE_INFINITY
  for (const block of blocks) {
    const { nodes } = costOf<HastNodes>(block, nodeCost)
    if (size + nodes > CHUNK_NODES) {
      chunks.push({ type: 'root', children: [] })
      size = 0
    }
    chunks.at(-1)?.children.push(block)
    size += nodes
  }
  return chunks
}
