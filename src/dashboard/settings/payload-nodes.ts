import type { TreeNodeData } from '@mantine/core'
import { type Path, valueAt } from './payload-path.ts'

/** What is shown of a value. */
export interface ShownValue {
  path: Path
  name: string
  /** The value, or how many it contains. */
  text: string
  kind: 'value' | 'array' | 'object'
}

/** The row that shows more of the values above it. */
export interface MoreRow {
  /** The ID of what contains them. */
  parent: string
  remaining: number
}

export interface TreeState {
  /** By the ID of the row. */
  opened: Readonly<Record<string, boolean>>
  /** How many of its values are shown. */
  shown: Readonly<Record<string, number>>
}

/** How many values of an array or object are shown at first, and how many more with each step. */
export const PAGE = 100
const MAX_NAME_LENGTH = 100
const MAX_TEXT_LENGTH = 200
/** Small payloads are open as a whole. */
const MAX_FIRST_ROWS = 40

const ROOT: Path = ['payload']

/** The rows of a payload: only those of what is open, so that a large payload costs no more than a small one. */
export const treeOf = (payload: unknown, state: TreeState): TreeNodeData[] => [
  nodeOf({ path: ROOT, value: payload }, state),
]

export const idOf = (path: Path) => JSON.stringify(path)

function nodeOf({ path, value }: Located, state: TreeState): TreeNodeData {
  const id = idOf(path)
  const kind = kindOf(value)
  const size = sizeOf(value)
  const name = String(path.at(-1))
  const shown: ShownValue = { path, name: cut(name, MAX_NAME_LENGTH), text: textOf(value), kind }
  const node = { value: id, label: name, nodeProps: { value: shown }, hasChildren: size > 0 }
  if (size === 0 || !state.opened[id]) return node
  const count = state.shown[id] ?? PAGE
  const children = childrenOf({ path, value }, count).map((child) => nodeOf(child, state))
  if (size > count) children.push(moreNode({ parent: id, remaining: size - count }))
  return { ...node, children }
}

const moreNode = (more: MoreRow): TreeNodeData => ({
  value: `more:${more.parent}`,
  label: 'Show more',
  nodeProps: { more },
})

interface Located {
  path: Path
  value: unknown
}

function childrenOf({ path, value }: Located, count: number): Located[] {
  const steps = Array.isArray(value)
    ? Array.from({ length: Math.min(count, value.length) }, (_, index) => index)
    : Object.keys(value as object).slice(0, count)
  return steps.map((step) => ({ path: [...path, step], value: valueAt(value, [step]) }))
}

/** What is open at first: level by level, as far as few rows go. */
export function firstOpened(payload: unknown): Record<string, boolean> {
  const opened: Record<string, boolean> = {}
  const queue: Located[] = [{ path: ROOT, value: payload }]
  let rows = 1
  for (let next = queue.shift(); next; next = queue.shift()) {
    const size = sizeOf(next.value)
    const isRoot = next.path.length === 1
    if (size === 0 || (!isRoot && rows + size > MAX_FIRST_ROWS)) continue
    opened[idOf(next.path)] = true
    rows += Math.min(size, PAGE)
    // The first items say what the others are like.
    queue.push(...childrenOf(next, Array.isArray(next.value) ? 1 : PAGE))
  }
  return opened
}

function kindOf(value: unknown): ShownValue['kind'] {
  if (Array.isArray(value)) return 'array'
  return typeof value === 'object' && value !== null ? 'object' : 'value'
}

const sizeOf = (value: unknown) =>
  typeof value === 'object' && value !== null
    ? Array.isArray(value)
      ? value.length
      : Object.keys(value).length
    : 0

function textOf(value: unknown): string {
  const kind = kindOf(value)
  if (kind === 'array') return `${sizeOf(value)} ${sizeOf(value) === 1 ? 'item' : 'items'}`
  if (kind === 'object') return `${sizeOf(value)} ${sizeOf(value) === 1 ? 'field' : 'fields'}`
  return typeof value === 'string' ? JSON.stringify(cut(value, MAX_TEXT_LENGTH)) : String(value)
}

const cut = (text: string, length: number) => (text.length > length ? `${text.slice(0, length)}…` : text)
