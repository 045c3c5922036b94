import type { Context } from '../schemas/context.ts'
import { contextMarkdown } from './context-markdown.ts'

/** About how many tokens a text is: four bytes of UTF-8 each. Good to a quarter or so for English and code. */
export const estimateTokens = (text: string) => Math.ceil(Buffer.byteLength(text) / 4)

/**
 * As much of a context as its Markdown may have tokens. Instructions are kept before lists, lists before tasks, each
 * in their order, so what goes first is the oldest task and last the instruction of highest priority. Whatever goes
 * is named in `omitted`.
 */
export function withinBudget(context: Context, budgetTokens: number): Context {
  const fits = (context: Context) => estimateTokens(contextMarkdown(context)) <= budgetTokens
  if (fits(context)) return context
  // More parts are a longer text: a part is longer than the line that names it when it is left out.
  let [kept, tooMany] = [0, partsOf(context).length]
  while (tooMany - kept > 1) {
    const middle = Math.floor((kept + tooMany) / 2)
    if (fits(firstParts(context, middle))) kept = middle
    else tooMany = middle
  }
  return firstParts(context, kept)
}

type Part = { kind: 'instruction' | 'list' | 'task'; id: string; priority: number | null }

const partsOf = ({ instructions, lists, tasks }: Context): Part[] => [
  ...instructions.map(({ id, priority }) => ({ kind: 'instruction' as const, id, priority })),
  ...lists.map(({ id }) => ({ kind: 'list' as const, id, priority: null })),
  ...(tasks?.recent ?? []).map(({ id }) => ({ kind: 'task' as const, id, priority: null })),
]

function firstParts(context: Context, count: number): Context {
  const parts = partsOf(context)
  const kept = (kind: Part['kind']) => parts.slice(0, count).filter((part) => part.kind === kind).length
  const omitted = parts.slice(count).map((part) => ({ ...part, reason: 'budget' as const }))
  return {
    ...context,
    instructions: context.instructions.slice(0, kept('instruction')),
    lists: context.lists.slice(0, kept('list')),
    ...(context.tasks && {
      tasks: { ...context.tasks, recent: context.tasks.recent.slice(0, kept('task')) },
    }),
    omitted: [...omitted, ...context.omitted],
  }
}
