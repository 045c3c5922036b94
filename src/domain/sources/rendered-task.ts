import type { FieldError } from '../../errors/index.ts'
import { isWebAddress, repaired } from '../../schemas/formats.ts'
import type { ClearableMember } from '../../schemas/source.ts'
import type { RenderedTask } from '../../schemas/source-delivery.ts'
import { TaskPriority } from '../../schemas/task.ts'
import { shortId } from './short-id.ts'

const MAX_TITLE_LENGTH = 500
const MAX_DESCRIPTION_LENGTH = 65_536
const MAX_LABELS = 20
const MAX_LABEL_LENGTH = 100
const MAX_URL_LENGTH = 2_048

type Texts = Partial<Record<keyof RenderedTask, string>>

/**
 * A task from rendered templates. What is too long is cut, and what is not supported is omitted and reported, so that
 * no delivery is lost for it. Undefined without a title.
 * @param clears the members that nothing empties; the others are omitted then
 */
export function taskOf(
  rendered: Texts,
  { clears, report }: { clears: ClearableMember[]; report: (error: FieldError) => void },
): RenderedTask | undefined {
  const texts = Object.fromEntries(
    Object.entries(rendered).map(([name, text]) => [name, repaired(text).trim()]),
  ) as Texts
  const reportOf = (member: keyof RenderedTask, error: Omit<FieldError, 'path'>) =>
    report({ path: `/template/${member}`, ...error })
  const title = cut((texts.title ?? '').replace(/\s+/gu, ' '), MAX_TITLE_LENGTH)
  if (title === '') {
    reportOf('title', { code: 'required', message: 'rendered nothing' })
    return undefined
  }
  const task: RenderedTask = { title }
  const isCleared = (member: ClearableMember) => texts[member] !== undefined && clears.includes(member)
  const { description, externalId, externalUrl } = texts
  if (description) task.description = cut(description, MAX_DESCRIPTION_LENGTH)
  else if (isCleared('description')) task.description = null
  const labels = labelsIn(texts.labels ?? '')
  if (labels.length > 0 || isCleared('labels')) task.labels = labels
  if (externalId) task.externalId = shortId(externalId)
  if (externalUrl) {
    if (externalUrl.length <= MAX_URL_LENGTH && isWebAddress(externalUrl)) task.externalUrl = externalUrl
    else
      reportOf('externalUrl', {
        code: 'wrong_format',
        message: 'is omitted: it is not an http or https URL',
      })
  } else if (isCleared('externalUrl')) task.externalUrl = null
  const priority = oneOf(TaskPriority, texts.priority)
  if (priority) task.priority = priority
  else if (texts.priority)
    reportOf('priority', { code: 'not_allowed', message: 'is omitted: it is not low, medium or high' })
  const status = oneOf(['open', 'done'] as const, texts.status)
  if (status) task.status = status
  else if (texts.status)
    reportOf('status', { code: 'not_allowed', message: 'is omitted: it is not open or done' })
  return task
}

function labelsIn(text: string): string[] {
  const labels = text.split(/[,\n]/).map((label) => cut(label.trim(), MAX_LABEL_LENGTH))
  return labels.filter(Boolean).slice(0, MAX_LABELS)
}

const oneOf = <T extends string>(values: readonly T[], text = ''): T | undefined =>
  values.find((value) => value === text.toLowerCase())

/** Characters are code points. */
function cut(text: string, length: number): string {
  if (text.length <= length) return text
  const characters = [...text.slice(0, 2 * length + 2)]
  return characters.length <= length
    ? text
    : `${characters
        .slice(0, length - 1)
        .join('')
        .trimEnd()}…`
}
