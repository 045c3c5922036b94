import type { Context } from '../schemas/context.ts'
import { contextMarkdown, HEADINGS, itemMarkdown, omissionLine } from './context-markdown.ts'

/** Estimated tokens of a text: four bytes of UTF-8 each. Within about 25% for English and code. */
export const estimateTokens = (text: string) => Math.ceil(Buffer.byteLength(text) / BYTES_OF_TOKEN)

const BYTES_OF_TOKEN = 4

/** Maximum of omissions listed by id; the rest are only counted. */
const MAX_NAMED = 20

/** Estimated tokens to list one omission. At most a tenth of the budget is reserved for omissions. */
const NAME_BYTES = 130

export type ContextItem =
  | { kind: 'instruction'; value: Context['instructions'][number] }
  | { kind: 'list'; value: Context['lists'][number] }
  | { kind: 'task'; value: NonNullable<Context['tasks']>['recent'][number] }
type Omission = Context['omitted'][number]

/**
 * Fits a context into a token budget, which its JSON and its Markdown must each meet. Instructions come first, then
 * lists, then tasks; an item that does not fit is omitted, later ones may still fit. An empty context can exceed a
 * tiny budget.
 */
export function withinBudget(context: Context, budgetTokens: number): Context {
  const fits = (context: Context) =>
    estimateTokens(JSON.stringify(context)) <= budgetTokens &&
    estimateTokens(contextMarkdown(context)) <= budgetTokens
  if (fits(context)) return context

  const items = itemsOf(context)
  const remaining = remainingBudget(
    withItems(context, { items, included: [], maxNamed: 0 }),
    budgetTokens * BYTES_OF_TOKEN,
  )
  const forNames = Math.min(MAX_NAMED * NAME_BYTES, (budgetTokens * BYTES_OF_TOKEN) / 10)
  remaining.add(-forNames)
  const included: ContextItem[] = []
  for (const item of items) {
    const isFirst = !included.some(({ kind }) => isRule(kind) === isRule(item.kind))
    const text = `${isFirst ? HEADINGS[item.kind] : ''}${itemMarkdown(item, included.length)}`
    if (remaining.reserve(item.value, text)) included.push(item)
  }
  remaining.add(forNames)
  const { omitted } = withItems(context, { items, included, maxNamed: items.length + context.omitted.length })
  const tooMany = omitted.findIndex((omission) => !remaining.reserve(omission, omissionLine(omission)))
  return withItems(context, {
    items,
    included,
    maxNamed: Math.min(tooMany < 0 ? omitted.length : tooMany, MAX_NAMED),
  })
}

const isRule = (kind: ContextItem['kind']) => kind === 'instruction'

/** Remaining budget in both formats; sizes are added per item, so the whole is not serialized again. */
function remainingBudget(context: Context, bytes: number) {
  let json = bytes - Buffer.byteLength(JSON.stringify(context))
  let markdown = bytes - Buffer.byteLength(contextMarkdown(context))
  return {
    add(bytes: number): void {
      json += bytes
      markdown += bytes
    },

    reserve(value: object, text: string): boolean {
      // Plus one byte each for the comma or line break.
      const [jsonSize, textSize] = [Buffer.byteLength(JSON.stringify(value)) + 1, Buffer.byteLength(text) + 1]
      if (jsonSize > json || textSize > markdown) return false
      json -= jsonSize
      markdown -= textSize
      return true
    },
  }
}

const itemsOf = ({ instructions, lists, tasks }: Context): ContextItem[] => [
  ...instructions.map((value) => ({ kind: 'instruction' as const, value })),
  ...lists.map((value) => ({ kind: 'list' as const, value })),
  ...(tasks?.recent ?? []).map((value) => ({ kind: 'task' as const, value })),
]

/** The context reduced to the kept items; omissions are listed up to `named` and all counted. */
function withItems(
  context: Context,
  { items, included, maxNamed }: { items: ContextItem[]; included: ContextItem[]; maxNamed: number },
): Context {
  const isIncluded = new Set(included)
  const left = items.filter((item) => !isIncluded.has(item))
  const omitted = [...context.omitted, ...left.map(omissionOf)]
  return {
    ...context,
    instructions: included.flatMap((item) => (item.kind === 'instruction' ? item.value : [])),
    lists: included.flatMap((item) => (item.kind === 'list' ? item.value : [])),
    ...(context.tasks && {
      tasks: {
        ...context.tasks,
        recent: included.flatMap((item) => (item.kind === 'task' ? item.value : [])),
      },
    }),
    omitted: omitted.slice(0, maxNamed),
    omittedCount: omitted.length,
  }
}

const omissionOf = ({ kind, value }: ContextItem): Omission => ({
  kind,
  id: value.id,
  priority: kind === 'instruction' ? value.priority : null,
  reason: 'budget',
})
