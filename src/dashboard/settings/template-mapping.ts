import { movedPath, type Path, pathText, readPath, readWord, type Word, wordText } from './payload-path.ts'
import type { Template } from './source-queries.ts'

export type Member = keyof Template

/** The members of a template, as the editor shows them. */
export const MEMBERS: { member: Member; label: string; description?: string }[] = [
  { member: 'title', label: 'Title' },
  { member: 'description', label: 'Description', description: 'Markdown.' },
  { member: 'priority', label: 'Priority', description: '“low”, “medium”, or “high”.' },
  { member: 'labels', label: 'Labels', description: 'Separated by commas.' },
  {
    member: 'externalId',
    label: 'External ID',
    description: 'Identifies the task. A later delivery with the same ID updates it.',
  },
  { member: 'externalUrl', label: 'External URL' },
  { member: 'status', label: 'Status', description: '“open” reopens a done task. “done” completes it.' },
]

/** What a template renders: a text, a value, or all of a list. */
export type Part =
  | { text: string }
  | {
      path: Path
      /** Whether the value is a list; with a name, that member of each of its objects. */
      list?: true | string
    }

/** What a value says about a task: which of its words stand for which result. */
export interface Words {
  path: Path
  cases: { result: string; words: Word[] }[]
  /** For all other words; empty for nothing. */
  otherwise: string
}

/** A template as values that were chosen. Custom if it is more than that. */
export type Mapping = { kind: 'parts'; parts: Part[] } | ({ kind: 'words' } & Words) | { kind: 'custom' }

/** The members that can have several values, and what stands between them. */
const SEPARATORS: Partial<Record<Member, { text: string; pattern: RegExp }>> = {
  labels: { text: ', ', pattern: /[,\n]/ },
  description: { text: '\n\n', pattern: /\n\s*\n/ },
}

/** What a member can be, where that is one of a few words. */
export const RESULTS: Partial<Record<Member, readonly string[]>> = {
  priority: ['high', 'medium', 'low'],
  status: ['done', 'open'],
}

const CUSTOM: Mapping = { kind: 'custom' }

/** The values that a template consists of. */
export function mappingOf(member: Member, template: string): Mapping {
  const tokens = tokensOf(template)
  if (tokens.some(({ tag }) => tag !== undefined)) return wordsIn(tokens, RESULTS[member] ?? []) ?? CUSTOM
  const parts: (Part | undefined)[] = []
  for (const piece of piecesOf(tokens, SEPARATORS[member]?.pattern)) {
    const [token] = piece
    if (token) parts.push(piece.length === 1 ? partOf(token) : undefined)
  }
  return parts.every((part) => part !== undefined) ? { kind: 'parts', parts } : CUSTOM
}

/** The Liquid of values that were chosen. */
export function templateOf(member: Member, mapping: Exclude<Mapping, { kind: 'custom' }>): string {
  if (mapping.kind === 'words') return wordsText(mapping)
  return mapping.parts.map((part) => liquidOf(member, part)).join(SEPARATORS[member]?.text)
}

/** The template with another value: in its place, or for members that can have several, behind it. */
export function withPart(member: Member, { template, part }: { template: string; part: Part }): string {
  const text = liquidOf(member, part)
  const before = template.trim()
  const separator = SEPARATORS[member]?.text
  return separator && before ? `${before}${separator}${text}` : text
}

/** The template when a task is made for each item of another array. */
export function movedTemplate(
  member: Member,
  { template, ...arrays }: { template: string; from: string; to: string },
): string {
  const mapping = mappingOf(member, template)
  const move = (path: Path) => movedPath(path, arrays)
  if (mapping.kind === 'words') return templateOf(member, { ...mapping, path: move(mapping.path) })
  if (mapping.kind === 'custom' || mapping.parts.every((part) => 'text' in part)) return template
  const parts = mapping.parts.map((part) => ('text' in part ? part : { ...part, path: move(part.path) }))
  return templateOf(member, { kind: 'parts', parts })
}

function liquidOf(member: Member, part: Part): string {
  if ('text' in part) return part.text
  const { path, list } = part
  const map = typeof list === 'string' ? ` | map: ${wordText(list)}` : ''
  const join = list ? ` | join: ${member === 'labels' ? '","' : '", "'}` : ''
  return `{{ ${pathText(path)}${map}${join} }}`
}

const LIST = /^(.*?)(?:\s*\|\s*map:\s*"([^"\\]*)")?\s*\|\s*join:\s*"[^"\\]*"$/s

function partOf({ text, output }: Token): Part | undefined {
  if (output === undefined) return /\{[{%]/.test(text) ? undefined : { text }
  const [, listed, member] = LIST.exec(output) ?? []
  const path = readPath((listed ?? output).trim())
  if (!path) return undefined
  return listed === undefined ? { path } : { path, list: member ?? true }
}

/** A part of a template: a text, or what is in an output or a tag. */
interface Token {
  text: string
  output?: string
  tag?: string
}

const TOKEN = /\{\{((?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^"'])*?)\}\}|\{%(.*?)%\}/gs

function tokensOf(template: string): Token[] {
  const tokens: Token[] = []
  let end = 0
  for (const { 0: text, 1: output, 2: tag, index } of template.matchAll(TOKEN)) {
    if (index > end) tokens.push({ text: template.slice(end, index) })
    tokens.push({ text, ...(output === undefined ? { tag: (tag ?? '').trim() } : { output: output.trim() }) })
    end = index + text.length
  }
  if (end < template.length) tokens.push({ text: template.slice(end) })
  return tokens
}

/** The tokens between separators. */
function piecesOf(tokens: Token[], separator: RegExp | undefined): Token[][] {
  const pieces: Token[][] = [[]]
  for (const token of tokens) {
    const texts = token.output === undefined && separator ? token.text.split(separator) : [token.text]
    for (const [index, text] of texts.entries()) {
      if (index > 0) pieces.push([])
      if (token.output !== undefined || text.trim() !== '')
        pieces.at(-1)?.push({ ...token, text: text.trim() })
    }
  }
  return pieces
}

/** One word is an `if`, several are a `case`, as people write it. */
function wordsText({ path, cases, otherwise }: Words): string {
  const used = cases.filter(({ words }) => words.length > 0)
  const [first] = used
  if (!first) return otherwise
  const others = otherwise ? `{% else %}${otherwise}` : ''
  const name = pathText(path)
  const [word] = first.words
  if (word !== undefined && used.length === 1 && first.words.length === 1) {
    const condition = word === true ? name : `${name} == ${wordText(word)}`
    return `{% if ${condition} %}${first.result}${others}{% endif %}`
  }
  const branches = used.map(({ words, result }) => `{% when ${words.map(wordText).join(', ')} %}${result}`)
  return `{% case ${name} %}${branches.join('')}${others}{% endcase %}`
}

/** Reads what `wordsText` writes. */
function wordsIn(tokens: Token[], results: readonly string[]): Mapping | undefined {
  const [first, ...rest] = tokens.filter(({ tag, text }) => tag !== undefined || text.trim() !== '')
  const end = rest.pop()
  const [, kind = '', subject = ''] = /^(if|case)\s+(.*)$/s.exec(first?.tag ?? '') ?? []
  if (end?.tag !== `end${kind}`) return undefined
  const [condition, compared] = kind === 'if' ? conditionOf(subject) : [subject]
  const path = readPath(condition)
  if (!path) return undefined
  const branches = kind === 'if' ? [{ text: '', tag: `when ${compared}` }, ...rest] : rest
  const cases: Words['cases'] = []
  let otherwise = ''
  for (let index = 0; index < branches.length; index += 2) {
    const result = branches[index + 1]?.text.trim() ?? ''
    const tag = branches[index]?.tag ?? ''
    const words = /^when\s/.test(tag) ? wordsOf(tag.slice('when'.length)) : undefined
    const isLast = tag === 'else' && index === branches.length - 2
    if (!results.includes(result) || (!words && !isLast)) return undefined
    if (words) cases.push({ result, words })
    else otherwise = result
  }
  return cases.length > 0 ? { kind: 'words', path, cases, otherwise } : undefined
}

const COMPARISON = /^(.*?)\s*==\s*("(?:[^"\\]|\\.)*"|[^\s"]+)$/s

/** The value that an `if` compares, and with what. */
function conditionOf(text: string): [path: string, word: string] {
  const [, path, word] = COMPARISON.exec(text) ?? []
  return path === undefined || word === undefined ? [text, 'true'] : [path, word]
}

const WORD = /\s*("(?:[^"\\]|\\.)*"|[^\s",]+)\s*(?:,|$)/y

function wordsOf(text: string): Word[] | undefined {
  const words: Word[] = []
  for (WORD.lastIndex = 0; WORD.lastIndex < text.length; ) {
    const word = readWord(WORD.exec(text)?.[1] ?? '')
    if (word === undefined) return undefined
    words.push(word)
  }
  return words
}

/** What a filter compares, if it is one value with one word. */
export function comparisonIn(filter: string): { path: Path; word: Word } | undefined {
  const [condition, compared] = conditionOf(filter.trim())
  const path = readPath(condition)
  const word = readWord(compared)
  return path && word !== undefined ? { path, word } : undefined
}

/** A filter that compares a value with one word. */
export const comparison = ({ path, word }: { path: Path; word: Word }) =>
  word === true ? pathText(path) : `${pathText(path)} == ${wordText(word)}`
