import type { Context } from '../schemas/context.ts'
import type { Rule } from '../schemas/rule.ts'
import {
  contextRestMarkdown,
  dataItemMarkdown,
  HEADINGS,
  NO_RULES,
  omissionLine,
  ruleMarkdown,
} from './context-markdown.ts'

/** Estimated tokens of a text: four bytes of UTF-8 each. Within about 25% for English and code. */
export const estimateTokens = (text: string) => Math.ceil(Buffer.byteLength(text) / BYTES_OF_TOKEN)

export const BYTES_OF_TOKEN = 4

/** Maximum of omissions listed by id; the rest are only counted. */
const MAX_NAMED = 20

/** Estimated tokens to list one omission. At most a tenth of the budget is reserved for omissions. */
const NAME_BYTES = 130

/** What the budget needs of a rule: its text need not be in memory. */
export interface RuleSize extends Pick<Rule, 'id' | 'priority'> {
  jsonBytes: number
  /** As the first rule: the number of a later one may have more digits. */
  markdownBytes: number
}

export const sizeOfRule = (rule: Rule): RuleSize => ({
  id: rule.id,
  priority: rule.priority,
  jsonBytes: jsonBytesOf(rule),
  markdownBytes: Buffer.byteLength(ruleMarkdown(rule, 0)),
})

/** A context with the sizes of its rules. */
export type SizedContext<R extends RuleSize = RuleSize> = Omit<Context, 'instructions'> & {
  instructions: R[]
}

export type DataItem =
  | { kind: 'list'; value: Context['lists'][number] }
  | { kind: 'task'; value: NonNullable<Context['tasks']>['recent'][number] }
type ContextItem<R extends RuleSize> = DataItem | { kind: 'instruction'; value: R }
type Omission = Context['omitted'][number]

/**
 * Fits a context into a token budget, which its JSON and its Markdown must each meet. Instructions come first, then
 * lists, then tasks; an item that does not fit is omitted, later ones may still fit. An empty context can exceed a
 * tiny budget.
 */
export function withinBudget<R extends RuleSize>(
  context: SizedContext<R>,
  budgetTokens: number,
): SizedContext<R> {
  const budgetBytes = budgetTokens * BYTES_OF_TOKEN
  const { jsonBytes, markdownBytes } = sizesOf(context)
  if (Math.max(jsonBytes, markdownBytes) <= budgetBytes) return context

  const items = itemsOf(context)
  const remaining = remainingBudget(withItems(context, { items, included: [], maxNamed: 0 }), budgetBytes)
  const forNames = Math.min(MAX_NAMED * NAME_BYTES, budgetBytes / 10)
  remaining.add(-forNames)
  const included: ContextItem<R>[] = []
  for (const item of items) {
    const isFirst = !included.some(({ kind }) => isRule(kind) === isRule(item.kind))
    const heading = isFirst ? Buffer.byteLength(HEADINGS[isRule(item.kind) ? 'rules' : 'data']) : 0
    const size = sizeOf(item, included.length)
    if (remaining.reserve({ ...size, markdownBytes: size.markdownBytes + heading })) included.push(item)
  }
  remaining.add(forNames)
  const { omitted } = withItems(context, { items, included, maxNamed: items.length + context.omitted.length })
  const tooMany = omitted.findIndex(
    (omission) =>
      !remaining.reserve({
        jsonBytes: jsonBytesOf(omission),
        markdownBytes: Buffer.byteLength(omissionLine(omission)),
      }),
  )
  return withItems(context, {
    items,
    included,
    maxNamed: Math.min(tooMany < 0 ? omitted.length : tooMany, MAX_NAMED),
  })
}

interface Size {
  jsonBytes: number
  markdownBytes: number
}

const jsonBytesOf = (value: object) => Buffer.byteLength(JSON.stringify(value))

const isRule = (kind: ContextItem<RuleSize>['kind']) => kind === 'instruction'

function sizeOf(item: ContextItem<RuleSize>, index: number): Size {
  if (item.kind !== 'instruction')
    return {
      jsonBytes: jsonBytesOf(item.value),
      markdownBytes: Buffer.byteLength(dataItemMarkdown(item)),
    }
  const { jsonBytes, markdownBytes } = item.value
  return { jsonBytes, markdownBytes: markdownBytes + String(index + 1).length - 1 }
}

/** Exactly: the sizes of all rules are added to those of a context without any. */
function sizesOf({ instructions, ...rest }: SizedContext): Size {
  const sizes = instructions.map((value, index) => sizeOf({ kind: 'instruction', value }, index))
  const commas = Math.max(0, instructions.length - 1)
  const heading = instructions.length === 0 ? NO_RULES : HEADINGS.rules
  return {
    jsonBytes: sizes.reduce(
      (sum, { jsonBytes }) => sum + jsonBytes,
      jsonBytesOf({ ...rest, instructions: [] }) + commas,
    ),
    markdownBytes: sizes.reduce(
      (sum, { markdownBytes }) => sum + markdownBytes,
      Buffer.byteLength(heading + contextRestMarkdown(rest)),
    ),
  }
}

/** Remaining budget in both formats; sizes are added per item, so the whole is not serialized again. */
function remainingBudget(empty: SizedContext, bytes: number) {
  const taken = sizesOf(empty)
  let json = bytes - taken.jsonBytes
  let markdown = bytes - taken.markdownBytes
  return {
    add(bytes: number): void {
      json += bytes
      markdown += bytes
    },

    reserve({ jsonBytes, markdownBytes }: Size): boolean {
      // Plus one byte each for the comma or line break.
      if (jsonBytes + 1 > json || markdownBytes + 1 > markdown) return false
      json -= jsonBytes + 1
      markdown -= markdownBytes + 1
      return true
    },
  }
}

const itemsOf = <R extends RuleSize>({ instructions, lists, tasks }: SizedContext<R>): ContextItem<R>[] => [
  ...instructions.map((value) => ({ kind: 'instruction' as const, value })),
  ...lists.map((value) => ({ kind: 'list' as const, value })),
  ...(tasks?.recent ?? []).map((value) => ({ kind: 'task' as const, value })),
]

/** The context reduced to the kept items; omissions are listed up to `named` and all counted. */
function withItems<R extends RuleSize>(
  context: SizedContext<R>,
  { items, included, maxNamed }: { items: ContextItem<R>[]; included: ContextItem<R>[]; maxNamed: number },
): SizedContext<R> {
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

const omissionOf = ({ kind, value }: ContextItem<RuleSize>): Omission => ({
  kind,
  id: value.id,
  priority: kind === 'instruction' ? value.priority : null,
  reason: 'budget',
})
