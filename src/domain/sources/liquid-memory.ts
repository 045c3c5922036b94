import { type Context, type Emitter, type FilterImplOptions, type Liquid, toValue } from 'liquidjs'

type FilterHandler = Extract<FilterImplOptions, (...values: never[]) => unknown>

/**
 * Counts what Liquid does not count: the text that templates write, and what filters return. An array can hold the same
 * text a thousand times, and a single text that is larger than the heap of its thread ends the process.
 */
export function countMemory(engine: Liquid, maxLength: number): void {
  const { renderer } = engine
  const counted = (handler: FilterHandler): FilterHandler =>
    function* (...values) {
      const result: unknown = yield handler.apply(this, values)
      this.context.memoryLimit.check(lengthOf(result, maxLength))
      return result
    }
  const renderTemplates = renderer.renderTemplates.bind(renderer)
  renderer.renderTemplates = (...[templates, context, emitter]) =>
    renderTemplates(templates, context, emitter ?? countingEmitter(context))
  for (const [name, filter] of Object.entries(engine.filters)) {
    engine.registerFilter(
      name,
      typeof filter === 'function' ? counted(filter) : { ...filter, handler: counted(filter.handler) },
    )
  }
}

function countingEmitter({ memoryLimit }: Context): Emitter {
  return {
    buffer: '',
    write(value: unknown) {
      const text = textOf(value)
      memoryLimit.use(text.length)
      this.buffer += text
    },
  }
}

/** Of all texts in a value, with one for each item. Above the maximum, it counts no further. */
function lengthOf(value: unknown, max: number): number {
  if (typeof value === 'string') return value.length
  if (!Array.isArray(value)) return 1
  let length = 0
  for (const item of value) {
    length += 1 + lengthOf(item, max - length)
    if (length > max) break
  }
  return length
}

/** As Liquid writes a value. */
function textOf(value: unknown): string {
  const plain = toValue(value)
  if (Array.isArray(plain)) return plain.map(textOf).join('')
  return String(plain ?? '')
}
