import type { Element, ElementContent, Nodes as HastNodes, Root, RootContent } from 'hast'
import type { Nodes as MdastNodes } from 'mdast'
import { fromMarkdown } from 'mdast-util-from-markdown'
import { gfmFromMarkdown } from 'mdast-util-gfm'
import { toHast } from 'mdast-util-to-hast'
import { gfm } from 'micromark-extension-gfm'

/** Rendering 5,000 nodes takes a slow computer about 100 ms. */
export const MAX_NODES = 5_000
/** Of all texts and URLs together: a reference repeats the URL of its definition. */
const MAX_CHARACTERS = 1_000_000
/** Rendering is recursive. */
const MAX_DEPTH = 100
/** Rendered in one step. */
const CHUNK_NODES = 500

/** The chunks to render one after the other, or the reason to show plain text. */
export type Parsed = { chunks: Root[] } | { plainReason: PlainReason }
export type PlainReason = 'too-complex' | 'too-slow' | 'not-available'

/** Parses Markdown to elements. Never HTML: tags become text, and URLs of other schemes become empty. */
export function parseMarkdown(text: string): Parsed {
  try {
    const source = fromMarkdown(text, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] })
    // Checked before the conversion too, which pads table rows and repeats URLs.
    if (!isWithinLimits(costOfSource(source))) return { plainReason: 'too-complex' }
    const tree = toHast(source, { allowDangerousHtml: true })
    const blocks = tree.type === 'root' ? tree.children : [tree as RootContent]
    const sanitized = blocks.flatMap((block) => sanitize(block) ?? [])
    if (!isWithinLimits(costOf({ type: 'root', children: sanitized }, nodeCost))) {
      return { plainReason: 'too-complex' }
    }
    return { chunks: splitIntoChunks(sanitized) }
  } catch (error) {
    if (error instanceof RangeError) return { plainReason: 'too-complex' }
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

/** Stops at the first node beyond a limit. */
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

/** A lower bound of the cost after conversion. */
function costOfSource(root: MdastNodes): Cost {
  const urls = new Map<string, number>()
  costOf(root, (node) => {
    if (node.type === 'definition') {
      urls.set(node.identifier, node.url.length + (node.title?.length ?? 0))
    }
    return { nodes: 0, characters: 0 }
  })
  return costOf(root, (node) => ({
    // Rows are padded to the width of the table.
    nodes: node.type === 'table' ? node.children.length * (node.align?.length ?? 1) : 1,
    characters:
      'identifier' in node && node.type !== 'definition'
        ? (urls.get(node.identifier) ?? 0)
        : 'value' in node
          ? node.value.length
          : 0,
  }))
}

function sanitize(node: RootContent): ElementContent | undefined {
  if (node.type === 'raw') return { type: 'text', value: node.value }
  if (node.type === 'text') return { type: 'text', value: node.value }
  if (node.type !== 'element') return undefined
  const properties = { ...node.properties }
  for (const name of ['href', 'src'])
    if (name in properties) properties[name] = safeUrl(String(properties[name]))
  return {
    type: 'element',
    tagName: node.tagName,
    properties,
    children: node.children.flatMap((child) => sanitize(child) ?? []),
  } satisfies Element
}

/** Allows http, mail, chat and relative URLs; others, such as javascript: and data:, become empty. */
function safeUrl(url: string): string {
  const [scheme] = /^[^/?#:]*:/.exec(url) ?? []
  return scheme === undefined || /^(https?|ircs?|mailto|xmpp):$/i.test(scheme) ? url : ''
}

/** Groups blocks into chunks without splitting a block. */
function splitIntoChunks(blocks: ElementContent[]): Root[] {
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
