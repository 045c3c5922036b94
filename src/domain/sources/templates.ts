import { Liquid, type Template } from 'liquidjs'
import { LRUCache } from 'lru-cache'
import type { FieldError } from '../../errors/index.ts'
import type { ClearableMember, SourceTemplate, SourceTemplateMember } from '../../schemas/source.ts'
import { countMemory } from './liquid-memory.ts'
import { refuseIgnored } from './liquid-syntax.ts'

/** What decides which tasks a payload makes. */
export interface SourceDefinition {
  each: string | null
  filter: string | null
  template: SourceTemplate
  clears: ClearableMember[]
}

/** A definition whose templates were parsed. */
export interface ParsedDefinition {
  filter: Template[] | null
  /** Whether the filter depends on the item, and not only on the payload. */
  filterReadsItem: boolean
  members: [SourceTemplateMember, Template[]][]
}

/** All other tags read templates from files, or combine several. */
const TAGS = new Set([
  '#',
  'assign',
  'break',
  'capture',
  'case',
  'comment',
  'continue',
  'cycle',
  'decrement',
  'echo',
  'for',
  'if',
  'increment',
  'liquid',
  'raw',
  'tablerow',
  'unless',
])

/** Characters and array items that a template may create. */
const MAX_MEMORY = 10_000_000
const MAX_MESSAGE_LENGTH = 200

const engine = new Liquid({
  ownPropertyOnly: true,
  strictFilters: true,
  // Without files: the other tags are gone, and this leaves nothing that they could read.
  templates: {},
  timezoneOffset: 0,
  locale: 'en-US',
  memoryLimit: MAX_MEMORY,
})
for (const tag of Object.keys(engine.tags)) if (!TAGS.has(tag)) delete engine.tags[tag]
countMemory(engine, MAX_MEMORY)

const parsed = new LRUCache<string, ParsedDefinition>({ max: 200 })

/** Parses a definition. Those in use are parsed once. */
export function parseDefinition(
  definition: SourceDefinition,
): { parsed: ParsedDefinition } | { errors: FieldError[] } {
  const key = JSON.stringify(definition)
  const known = parsed.get(key)
  if (known) return { parsed: known }
  const errors: FieldError[] = []
  const parse = (path: string, work: () => Template[]) => {
    try {
      return work()
    } catch (error) {
      errors.push({ path, code: 'invalid_template', message: messageOf(error) })
      return []
    }
  }
  const { filter: condition, template } = definition
  const filter = condition === null ? null : parse('/filter', () => parseCondition(condition))
  const result: ParsedDefinition = {
    filter,
    filterReadsItem: filter !== null && engine.globalVariablesSync(filter).includes('item'),
    members: Object.entries(template).flatMap(([name, text]) =>
      // Cast: `entries` widens the names.
      text === null
        ? []
        : [[name as SourceTemplateMember, parse(`/template/${name}`, () => parseText(text))]],
    ),
  }
  if (errors.length > 0) return { errors }
  parsed.set(key, result)
  return { parsed: result }
}

function parseCondition(condition: string): Template[] {
  if (/\{%|%\}|\{\{|\}\}/.test(condition)) throw new Error('must be a condition, without {% or {{')
  return parseText(`{% if ${condition} %}1{% endif %}`)
}

function parseText(text: string): Template[] {
  refuseIgnored(text)
  return engine.parse(text)
}

/** What a template may read, and how long it may take. */
export interface RenderScope {
  payload: unknown
  item: unknown
  renderLimit: number
}

/** @throws RenderFailure if the template fails, or exceeds a limit. */
export function render(templates: Template[], { payload, item, renderLimit }: RenderScope): string {
  try {
    return String(engine.renderSync(templates, { payload, item }, { renderLimit }))
  } catch (error) {
    throw new RenderFailure(messageOf(error))
  }
}

/** A template that failed on a payload. */
export class RenderFailure extends Error {}

/** The first line, without the place in a template of one line: `undefined filter: upcas`. */
function messageOf(error: unknown): string {
  const [first = ''] = (error as Error).message.split('\n')
  const message = first.replace(/, line:1, col:\d+$/, '')
  const hint = /^tag "el(se|s)?if" not found|^unexpected "if /.test(message) ? '. Use {% elsif %}' : ''
  return `${message.slice(0, MAX_MESSAGE_LENGTH)}${hint}`
}
