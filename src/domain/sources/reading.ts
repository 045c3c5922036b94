import { hash } from 'node:crypto'
import type { FieldError } from '../../errors/index.ts'
import type { RenderedTask } from '../../schemas/source-delivery.ts'
import { readBody } from '../delivery-body.ts'
import { taskOf } from './rendered-task.ts'
import { type StoredPayload, storedBody } from './stored-payload.ts'
import {
  type ParsedDefinition,
  parseDefinition,
  RenderFailure,
  render,
  type SourceDefinition,
} from './templates.ts'

/** A task that a payload makes, and which item of `each` it is from. */
export interface ItemTask {
  index: number
  task: RenderedTask
}

export type SourceReading = { stored: StoredPayload; bodyHash: string } & (
  | {
      outcome: 'accepted'
      tasks: ItemTask[]
      /** How many items the filter left out. */
      filtered: number
      /** Which values were left out. */
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
  const body = readBody(bytes)
  if (!body.isJson) {
    const stored = { payload: null, payloadCut: false }
    return { outcome: 'unreadable', readUpTo: body.readUpTo, stored, bodyHash: hash('sha256', bytes) }
  }
  const stored = storedBody(body.body)
  // Of what the inbox has, where that is all: a replay gets the same hash.
  const bodyHash = hash('sha256', stored.payloadCut ? bytes : (stored.payload ?? ''))
  return { ...readPayload(body.body, { definition, renderMs }), stored, bodyHash }
}

/** Only an outcome: the payload is stored by the caller. */
type Outcome<R = SourceReading> = R extends unknown ? Omit<R, 'stored' | 'bodyHash'> : never

function readPayload(
  payload: unknown,
  { definition, renderMs }: Pick<SourceInput, 'definition' | 'renderMs'>,
): Outcome {
  const definitionRead = parseDefinition(definition)
  if ('errors' in definitionRead) return { outcome: 'rejected', errors: definitionRead.errors }
  const items = itemsOf(payload, definition.each)
  if (!Array.isArray(items)) return { outcome: 'rejected', errors: [items] }
  const end = performance.now() + renderMs
  const { tasks, filtered, errors, isFailed } = renderItems(definitionRead.parsed, { payload, items, end })
  if (isFailed) return { outcome: 'rejected', errors, isTooSlow: performance.now() >= end }
  return tasks.length === 0 ? { outcome: 'filtered' } : { outcome: 'accepted', tasks, filtered, errors }
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

function renderItems(
  { filter, members }: ParsedDefinition,
  { payload, items, end }: { payload: unknown; items: unknown[]; end: number },
) {
  const tasks: ItemTask[] = []
  const errors: FieldError[] = []
  let filtered = 0
  let isFailed = false
  for (const [index, item] of items.entries()) {
    const scope = {
      payload,
      item,
      get renderLimit() {
        return Math.max(end - performance.now(), 0)
      },
    }
    const report = (error: FieldError) => {
      const message = items.length === 1 ? error.message : `item ${index}: ${error.message}`
      if (errors.length < MAX_ERRORS) errors.push({ ...error, message })
    }
    const texts: Partial<Record<keyof RenderedTask, string>> = {}
    let path = '/filter'
    try {
      if (filter && render(filter, scope) === '') {
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
      return { tasks, filtered, errors, isFailed: true }
    }
    const task = taskOf(texts, report)
    if (task) tasks.push({ index, task })
    else isFailed = true
  }
  return { tasks, filtered, errors, isFailed }
}
