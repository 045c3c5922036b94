/** Where a value is, as templates name it: `payload`, or an item of `each`, then names and positions. */
export type Path = readonly [root: 'payload' | 'item', ...steps: (string | number)[]]

/** What a template can compare with. */
export type Word = string | number | boolean

const NAME = /^[A-Za-z_][A-Za-z0-9_-]*$/
/** What the path of `each` may consist of. */
const EACH_NAME = /^[A-Za-z0-9_-]+$/
const MAX_EACH_LENGTH = 200

const ROOT = /(payload|item)(?![\w-])/y
const STEP = /\.([A-Za-z_][\w-]*)|\[\s*(?:(\d+)|("(?:[^"\\]|\\.)*"|'[^'\\]*'))\s*\]/y

/** The path in Liquid: `payload.alerts[0].labels["team name"]`. */
export function pathText([root, ...steps]: Path): string {
  return root + steps.map(stepText).join('')
}

function stepText(step: string | number): string {
  if (typeof step === 'number') return `[${step}]`
  return NAME.test(step) ? `.${step}` : `[${wordText(step)}]`
}

/** A path in Liquid; undefined if the text is more than that, or none. */
export function readPath(text: string): Path | undefined {
  ROOT.lastIndex = 0
  const [, root] = ROOT.exec(text) ?? []
  if (root !== 'payload' && root !== 'item') return undefined
  const steps: (string | number)[] = []
  STEP.lastIndex = root.length
  while (STEP.lastIndex < text.length) {
    const match = STEP.exec(text)
    if (!match) return undefined
    const [, name, position, quoted = ''] = match
    const step = name ?? (position === undefined ? readQuoted(quoted) : Number(position))
    if (step === undefined) return undefined
    steps.push(step)
  }
  return [root, ...steps]
}

/** A value in Liquid. Escapes what would end a tag, which Liquid looks for within quotes, too. */
export function wordText(word: Word): string {
  return typeof word === 'string' ? JSON.stringify(word).replace(/[{}%](?=[{}%])/g, escaped) : String(word)
}

const escaped = (character: string) => `\\u00${character.charCodeAt(0).toString(16)}`

/** A value in Liquid, or undefined. */
export function readWord(text: string): Word | undefined {
  if (text === 'true' || text === 'false') return text === 'true'
  if (/^-?\d+(\.\d+)?$/.test(text)) return Number(text)
  return readQuoted(text)
}

function readQuoted(text: string): string | undefined {
  if (/^'[^'\\]*'$/.test(text)) return text.slice(1, -1)
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'string' ? value : undefined
  } catch {
    return undefined
  }
}

/** The path of `each` as its field has it; undefined for what it can't be. */
export function eachText([root, ...steps]: Path): string | undefined {
  const isNamed = steps.every((step) => typeof step === 'string' && EACH_NAME.test(step))
  const text = [root, ...steps].join('.')
  return root === 'payload' && isNamed && text.length <= MAX_EACH_LENGTH ? text : undefined
}

/** `payload.alerts[0].title` as `item.title`, if a task is made for each of `payload.alerts`. */
export function inItem(path: Path, each: string): Path {
  const [root, ...names] = each.trim().split('.')
  const [position, ...rest] = path.slice(names.length + 1)
  const isWithin = each.trim() === [root, ...path.slice(1, names.length + 1)].join('.')
  return isWithin && path[0] === root && typeof position === 'number' ? ['item', ...rest] : path
}

/** The path of the same value, when a task is made for each item of another array: `from` before, `to` now. */
export const movedPath = (path: Path, { from, to }: { from: string; to: string }) =>
  inItem(inPayload(path, from), to)

/** The value of the first item. */
function inPayload([root, ...steps]: Path, each: string): Path {
  if (root === 'payload') return [root, ...steps]
  const names = each.trim().split('.').slice(1)
  return each.trim() === '' ? ['payload', ...steps] : ['payload', ...names, 0, ...steps]
}

/** The values that a path has in an example: one, or one of each item. */
export function valuesAt(payload: unknown, { path, each }: { path: Path; each: string }): unknown[] {
  const [root, ...steps] = path
  if (root === 'payload' || each.trim() === '') return [valueAt(payload, steps)]
  const items = valueAt(payload, each.trim().split('.').slice(1))
  return Array.isArray(items) ? items.map((item) => valueAt(item, steps)) : []
}

export const valueAt = (value: unknown, steps: (string | number)[]): unknown => steps.reduce(memberOf, value)

const memberOf = (value: unknown, name: string | number): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string | number, unknown>)[name]
    : undefined
