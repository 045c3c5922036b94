import { eachText, inItem, movedPath, type Path, pathText, valueAt, valuesAt } from './payload-path.ts'
import type { SourceDraft } from './source-draft.ts'
import {
  comparison,
  comparisonIn,
  MEMBERS,
  type Member,
  movedTemplate,
  type Part,
  RESULTS,
  templateOf,
  withPart,
} from './template-mapping.ts'
import { distinctWords, guessWords } from './value-words.ts'

type Templates = Pick<SourceDraft, 'each' | 'template'>

interface Choice {
  /** From `payload` on. */
  path: Path
  payload: unknown
  draft: Templates
}

/** The template of a member that a value was chosen for. */
export function templateFor(member: Member, { path: chosen, payload, draft }: Choice): string {
  const { each, template } = draft
  const path = inItem(chosen, each)
  const values = valuesAt(payload, { path, each })
  const isOfWords = RESULTS[member] !== undefined && distinctWords(values).length > 0
  const words = isOfWords ? guessWords(member, values) : undefined
  if (words) return templateOf(member, { kind: 'words', path, ...words })
  const part = member === 'labels' ? listPart(path) : undefined
  const isList = Array.isArray(valueAt(payload, chosen.slice(1)))
  return withPart(member, {
    template: template[member],
    part: part ?? { path, ...(isList && { list: true }) },
  })
}

/** All labels at once: one of a list, or of a list of objects, stands for all of them. */
function listPart(path: Path): Part | undefined {
  const [last, before] = [path.at(-1), path.at(-2)]
  const [root, ...steps] = path
  if (typeof last === 'number') return { path: [root, ...steps.slice(0, -1)], list: true }
  const isSimple = typeof last === 'string' && /^[A-Za-z_]\w*$/.test(last)
  return isSimple && typeof before === 'number'
    ? { path: [root, ...steps.slice(0, -2)], list: last }
    : undefined
}

/** Whether a value can be the text of a member: a list of objects can't. */
export function canBeText(value: unknown): boolean {
  if (!Array.isArray(value)) return typeof value !== 'object' || value === null
  return value.length > 0 && value.every((item) => !Array.isArray(item) && canBeText(item))
}

/** The array that a value is in, or is, as `each` names it: a task can be made for each of its items. */
export function eachFor(path: Path, payload: unknown): string | undefined {
  const [root, ...steps] = path
  const inner = steps.findIndex((step) => typeof step === 'number')
  const array: Path = [root, ...(inner < 0 ? steps : steps.slice(0, inner))]
  const value = valueAt(payload, array.slice(1))
  const isOfTasks = Array.isArray(value) && value.every((item) => typeof item === 'object' && item !== null)
  return isOfTasks ? eachText(array) : undefined
}

/** A task for each item of another array: what was chosen stays the same value, as far as it can. */
export function withEach(draft: Templates & Pick<SourceDraft, 'filter'>, each: string): Partial<SourceDraft> {
  const move = { from: draft.each, to: each }
  const template = { ...draft.template }
  for (const { member } of MEMBERS)
    template[member] = movedTemplate(member, { template: template[member], ...move })
  const compared = comparisonIn(draft.filter)
  const filter = compared ? comparison({ ...compared, path: movedPath(compared.path, move) }) : draft.filter
  return { each, template, filter }
}

/** How a value that was chosen is shown. */
export function partText(part: Part): string {
  if ('text' in part) return `“${part.text}”`
  const member = typeof part.list === 'string' ? `.${part.list}` : ''
  return pathText(part.path) + (part.list ? `[]${member}` : '')
}
