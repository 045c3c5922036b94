import type { Context } from '../schemas/context.ts'
import { contextMarkdown, HEADINGS, itemMarkdown, omissionLine } from './context-markdown.ts'

/** About how many tokens a text is: four bytes of UTF-8 each. Good to a quarter or so for English and code. */
export const estimateTokens = (text: string) => Math.ceil(Buffer.byteLength(text) / BYTES_OF_TOKEN)

const BYTES_OF_TOKEN = 4

/** Omissions that are named one by one; beyond, they are counted. */
const MAX_NAMED = 20

/** About what naming one takes. A tenth of the budget, at most, is kept free for that. */
const NAME_BYTES = 130

export type ContextItem =
  | { kind: 'instruction'; value: Context['instructions'][number] }
  | { kind: 'list'; value: Context['lists'][number] }
  | { kind: 'task'; value: NonNullable<Context['tasks']>['recent'][number] }
type Omission = Context['omitted'][number]

/**
 * As much of a context as its JSON and its Markdown, each, may have tokens. Instructions are taken before lists, lists
 * before tasks, each in their order; what does not fit is left out, and what fits further down is taken. Then as many
 * omissions are named as there is room for. With nothing in it, a context is still larger than a tiny budget.
 */
export function withinBudget(context: Context, budgetTokens: number): Context {
  const fits = (context: Context) =>
    estimateTokens(JSON.stringify(context)) <= budgetTokens &&
    estimateTokens(contextMarkdown(context)) <= budgetTokens
  if (fits(context)) return context

  const items = itemsOf(context)
  const room = roomBeside(having(context, items, [], 0), budgetTokens * BYTES_OF_TOKEN)
  const forNames = Math.min(MAX_NAMED * NAME_BYTES, (budgetTokens * BYTES_OF_TOKEN) / 10)
  room.grow(-forNames)
  const kept: ContextItem[] = []
  for (const item of items) {
    const isFirst = !kept.some(({ kind }) => isRule(kind) === isRule(item.kind))
    const text = `${isFirst ? HEADINGS[item.kind] : ''}${itemMarkdown(item, kept.length)}`
    if (room.take(item.value, text)) kept.push(item)
  }
  room.grow(forNames)
  const { omitted } = having(context, items, kept, items.length + context.omitted.length)
  const tooMany = omitted.findIndex((omission) => !room.take(omission, omissionLine(omission)))
  return having(context, items, kept, Math.min(tooMany < 0 ? omitted.length : tooMany, MAX_NAMED))
}

const isRule = (kind: ContextItem['kind']) => kind === 'instruction'

/** What is left of a budget, in either form; both sizes are known without writing out the whole again. */
function roomBeside(context: Context, bytes: number) {
  let json = bytes - Buffer.byteLength(JSON.stringify(context))
  let markdown = bytes - Buffer.byteLength(contextMarkdown(context))
  return {
    grow(bytes: number): void {
      json += bytes
      markdown += bytes
    },

    take(value: object, text: string): boolean {
      // With a comma or a line break each.
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

/** The context with these items alone; so many of the others are named, all of them counted. */
function having(context: Context, items: ContextItem[], kept: ContextItem[], named: number): Context {
  const isKept = new Set(kept)
  const left = items.filter((item) => !isKept.has(item))
  const omitted = [...context.omitted, ...left.map(omissionOf)]
  return {
    ...context,
    instructions: kept.flatMap((item) => (item.kind === 'instruction' ? item.value : [])),
    lists: kept.flatMap((item) => (item.kind === 'list' ? item.value : [])),
    ...(context.tasks && {
      tasks: { ...context.tasks, recent: kept.flatMap((item) => (item.kind === 'task' ? item.value : [])) },
    }),
    omitted: omitted.slice(0, named),
    omittedCount: omitted.length,
  }
}

const omissionOf = ({ kind, value }: ContextItem): Omission => ({
  kind,
  id: value.id,
  priority: kind === 'instruction' ? value.priority : null,
  reason: 'budget',
})
