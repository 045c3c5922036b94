import type { TaskBrief } from '../schemas/context.ts'
import type { TaskLine } from '../schemas/tool-results.ts'
import { LINES_OF_PAGE } from '../schemas/tools.ts'
import { cutText, inertJson, inertLength } from './untrusted.ts'

/** Room for a line, so that a page of 20 with its notice and cursor has at most 4,000 characters. */
const LINE_LENGTH = 180

/** How long title, labels and list of a line may be together: the longest that fits the page. */
const TEXT_LENGTHS = [1_000, 200, 160, 130, 110, 95, 80, 70, 60, 50]
const MIN_TEXT_LENGTH = 40

/**
 * Tasks as lines for an assistant. If they are too long for a page, the texts of all lines are cut at the same length.
 */
export function taskLines(tasks: TaskBrief[], listNames: ReadonlyMap<string, string>): TaskLine[] {
  const measured = tasks.map((task) => measure(task, listNames.get(task.listId) ?? ''))
  // Smaller pages have as much room.
  const room = LINE_LENGTH * Math.max(tasks.length, LINES_OF_PAGE)
  const isFitting = (textLength: number) =>
    measured.reduce((sum, task) => sum + lengthWithin(task, textLength), 0) <= room
  const textLength = TEXT_LENGTHS.find(isFitting) ?? MIN_TEXT_LENGTH
  return measured.map((task) => taskLine(task, textLength))
}

interface Measured {
  task: TaskBrief
  list: string
  /** Of the line without texts. */
  baseLength: number
  titleLength: number
  /** Of each label with its comma. */
  labelLengths: number[]
  listLength: number
}

/** Each text once: a page can have half a million characters that are escaped. */
const measure = (task: TaskBrief, list: string): Measured => ({
  task,
  list,
  baseLength: `${inertJson(line(task, { title: '', labels: [], list }))}\n`.length - inertLength(list),
  titleLength: inertLength(task.title),
  labelLengths: task.labels.map((label) => `"",`.length + inertLength(label)),
  listLength: inertLength(list),
})

/** The members that a line has. */
function line(
  { id, status, priority, isReady, codehostIssueNumber, codehostPrNumber }: TaskBrief,
  { title, labels, list }: { title: string; labels: string[]; list: string },
): TaskLine {
  const number = codehostIssueNumber ?? codehostPrNumber
  return {
    id,
    ...(number !== null && { number }),
    title,
    status,
    priority,
    ...(isReady && { isReady }),
    ...(labels.length > 0 && { labels }),
    ...(list !== '' && { list }),
  }
}

/** Most of the text is the title; a list and labels that are short leave it more. */
function shares({ labelLengths, listLength }: Measured, textLength: number) {
  const list = Math.min(listLength, textLength / 5)
  const labels = fittingLabels(labelLengths, textLength * 0.4)
  return { list, labels, title: textLength - list - labels.length }
}

/** No line is longer, as each text is cut at its share. */
function lengthWithin(task: Measured, textLength: number): number {
  const { list, labels, title } = shares(task, textLength)
  return task.baseLength + list + labels.length + Math.min(task.titleLength, title)
}

function taskLine(measured: Measured, textLength: number): TaskLine {
  const { task } = measured
  const { list, labels, title } = shares(measured, textLength)
  const isCut = labels.count < task.labels.length
  return line(task, {
    title: cut(task.title, title),
    labels: isCut ? [...task.labels.slice(0, labels.count), ELLIPSIS] : task.labels,
    list: cut(measured.list, list),
  })
}

const cut = (text: string, maxSize: number) => cutText(text, { maxSize, sizeOf: inertLength })

const ELLIPSIS = '…'
const LABELS_LENGTH = `"labels":[],`.length

/** How many labels fit, with an ellipsis for the others, and how long they are. */
function fittingLabels(lengths: number[], maxLength: number): { count: number; length: number } {
  if (lengths.length === 0) return { count: 0, length: 0 }
  const whole = lengths.reduce((sum, length) => sum + length, LABELS_LENGTH)
  if (whole <= maxLength) return { count: lengths.length, length: whole }
  let length = LABELS_LENGTH + `"${ELLIPSIS}",`.length
  let count = 0
  for (const next of lengths) {
    if (length + next > maxLength) break
    length += next
    count++
  }
  return { count, length }
}
