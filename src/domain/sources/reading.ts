import { hash } from 'node:crypto'
import type { FieldError } from '../../errors/index.ts'
import type { RenderedTask } from '../../schemas/source-delivery.ts'
import { readJson } from '../delivery-body.ts'
import { taskOf } from './rendered-task.ts'
import { type StoredPayload, storedBody } from './stored-payload.ts'
import {
  type ParsedDefinition,
  parseDefinition,
  RenderFailure,
  type RenderScope,
  render,
  type SourceDefinition,
} from './templates.ts'

/** A task that a payload makes, and which item of `each` it is from. */
export interface ItemTask {
  index: number
  task: RenderedTask
  /** The same for items that are equal and say the same about a task. */
  hash: string
}

export type SourceReading = { stored: StoredPayload } & (
  | {
      outcome: 'accepted'
      tasks: ItemTask[]
      /** How many items the filter omitted. */
      filtered: number
      /** Which values were omitted. */
      errors: FieldError[]
    }
  | { outcome: 'filtered' }
  | {
      outcome: 'rejected'
      errors: FieldError[]
      /** Whether its templates took too long. */
      isTooSlow?: boolean
    }
  /** How many characters are valid JSON. */
  | { outcome: 'unreadable'; readUpTo: number }
)

export interface SourceInput {
  definition: SourceDefinition
  bytes: Uint8Array
  /** For all templates together. A filter may take longer: then the deadline of the thread ends it. */
  renderMs: number
}

/** Maximum of items in a delivery. */
const MAX_ITEMS = 500
const MAX_ERRORS = 100

/** All processing whose time depends on the payload and the templates, in one call, for a thread of its own. */
export function readSourceDelivery({ definition, bytes, renderMs }: SourceInput): SourceReading {
  const body = readJson(bytes)
  if (!body.isJson) {
    const stored = { payload: null, payloadCut: false }
    return { outcome: 'unreadable', readUpTo: body.readUpTo, stored }
  }
  return { ...readPayload(body.body, { definition, renderMs }), stored: storedBody(body.body) }
}

/** Only an outcome: the payload is stored by the caller. */
type Outcome<R = SourceReading> = R extends unknown ? Omit<R, 'stored'> : never

function readPayload(
  payload: unknown,
  { definition, renderMs }: Pick<SourceInput, 'definition' | 'renderMs'>,
): Outcome {
  const definitionRead = parseDefinition(definition)
  if ('errors' in definitionRead) return { outcome: 'rejected', errors: definitionRead.errors }
  const { parsed } = definitionRead
  const end = performance.now() + renderMs
  // It decides before the items are looked for: what it leaves out need not have any.
  if (parsed.filter && !parsed.filterReadsItem) {
    try {
      if (render(parsed.filter, scopeOf({ payload, end })) === '') return { outcome: 'filtered' }
    } catch (error) {
      if (!(error instanceof RenderFailure)) throw error
      const errors = [{ path: '/filter', code: 'template_failed', message: error.message }]
      return { outcome: 'rejected', errors, isTooSlow: performance.now() >= end }
    }
  }
  const items = itemsOf(payload, definition.each)
  if (!Array.isArray(items)) return { outcome: 'rejected', errors: [items] }
  const { clears } = definition
  const { tasks, filtered, errors } = renderItems(parsed, { clears, payload, items, end })
  if (tasks.length > 0) return { outcome: 'accepted', tasks, filtered, errors }
  if (errors.length === 0) return { outcome: 'filtered' }
  return { outcome: 'rejected', errors, isTooSlow: performance.now() >= end }
}

function itemsOf(payload: unknown, each: string | null): unknown[] | FieldError {
  const isObject = typeof payload === 'object' && payload !== null
  if (each === null) {
    if (isObject && !Array.isArray(payload)) return [payload]
    const hint = Array.isArray(payload)
      ? ' To create a task for each item of an array, set `each` to payload.'
      : ''
    return { path: '', code: 'wrong_type', message: `must be an object.${hint}` }
  }
  const names = each.split('.').slice(1)
  const found = names.reduce<unknown>(memberOf, payload)
  const path = names.map((name) => `/${name}`).join('')
  if (!Array.isArray(found)) {
    return { path, code: 'wrong_type', message: `must be an array, because \`each\` is ${each}` }
  }
  if (found.length > MAX_ITEMS) {
    return { path, code: 'too_many', message: `must contain at most ${MAX_ITEMS} items` }
  }
  return found
}

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined

interface RenderedPayload {
  clears: SourceDefinition['clears']
  payload: unknown
  items: unknown[]
  end: number
}

/** An item that makes no valid task is reported, and spoils no other; one that uses up the time ends them all. */
function renderItems(
  { filter, filterReadsItem, members }: ParsedDefinition,
  { clears, payload, items, end }: RenderedPayload,
): { tasks: ItemTask[]; filtered: number; errors: FieldError[] } {
  const tasks: ItemTask[] = []
  const errors: FieldError[] = []
  let filtered = 0
  for (const [index, item] of items.entries()) {
    const scope = scopeOf({ payload, item, end })
    const report = (error: FieldError) => {
      const message = items.length === 1 ? error.message : `item ${index}: ${error.message}`
      if (errors.length < MAX_ERRORS) errors.push({ ...error, message })
    }
    const texts: Partial<Record<keyof RenderedTask, string>> = {}
    let path = '/filter'
    try {
      if (filter && filterReadsItem && render(filter, scope) === '') {
        filtered++
        continue
      }
      for (const [name, templates] of members) {
        path = `/template/${name}`
        texts[name] = render(templates, scope)
      }
    } catch (error) {
      if (!(error instanceof RenderFailure)) throw error
      report({ path, code: 'template_failed', message: error.message })
      if (scope.renderLimit === 0) return { tasks: [], filtered, errors }
      continue
    }
    const task = taskOf(texts, { clears, report })
    if (task) tasks.push({ index, task, hash: hash('sha256', JSON.stringify([item, task]), 'base64url') })
  }
  return { tasks, filtered, errors }
}

const scopeOf = ({ payload, item, end }: { payload: unknown; item?: unknown; end: number }): RenderScope => ({
  payload,
  item,
  get renderLimit() {
    return Math.max(end - performance.now(), 0)
  },
})
