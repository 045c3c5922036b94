import type { TaskBrief } from '../schemas/context.ts'
import type { TaskLine } from '../schemas/tool-results.ts'
import { LINES_OF_PAGE } from '../schemas/tools.ts'
import { cutText, inertJson, inertLength } from './untrusted.ts'

/** Room for a line, so that a page of 20 with its notice and cursor has at most 4,000 characters. */
const LINE_LENGTH = 180

/** How long title, labels and list of a line may be together: the longest that fits the page. */
const TEXT_LENGTHS = [1_000, 200, 160, 130, 110, 95, 80, 70, 60, 50, 40]

/**
 * Tasks as lines for an assistant. If they are too long for a page, the texts of all lines are cut at the same length.
 */
export function taskLines(tasks: TaskBrief[], listNames: ReadonlyMap<string, string>): TaskLine[] {
  // Smaller pages have as much room.
  const room = LINE_LENGTH * Math.max(tasks.length, LINES_OF_PAGE)
  let lines: TaskLine[] = []
  for (const textLength of TEXT_LENGTHS) {
    lines = tasks.map((task) => taskLine(task, { list: listNames.get(task.listId), textLength }))
    if (lengthOf(lines) <= room) break
  }
  return lines
}

const lengthOf = (lines: TaskLine[]) =>
  lines.reduce((sum, line) => sum + inertJson(line).length + '\n'.length, 0)

/** Most of the text is the title; a list and labels that are short leave it more. */
function taskLine(
  task: TaskBrief,
  { list, textLength }: { list: string | undefined; textLength: number },
): TaskLine {
  const { id, title, status, priority, isReady, labels, codehostIssueNumber, codehostPrNumber } = task
  const number = codehostIssueNumber ?? codehostPrNumber
  const shownList = list === undefined ? '' : cut(list, textLength / 5)
  const shownLabels = fittingLabels(labels, textLength * 0.4)
  const rest = textLength - inertLength(shownList) - labelsLength(shownLabels)
  return {
    id,
    ...(number !== null && { number }),
    title: cut(title, rest),
    status,
    priority,
    ...(isReady && { isReady }),
    ...(shownLabels.length > 0 && { labels: shownLabels }),
    ...(shownList !== '' && { list: shownList }),
  }
}

const cut = (text: string, maxSize: number) => cutText(text, { maxSize, sizeOf: inertLength })

/** The first labels, and an ellipsis for the others. */
function fittingLabels(labels: string[], maxLength: number): string[] {
  if (labelsLength(labels) <= maxLength) return labels
  for (let count = labels.length - 1; count > 0; count--) {
    const first = [...labels.slice(0, count), '…']
    if (labelsLength(first) <= maxLength) return first
  }
  return ['…']
}

/** With the name of the member. */
const labelsLength = (labels: string[]) =>
  labels.length === 0 ? 0 : inertJson({ labels }).length - '{}'.length + ','.length
