import {
  type AssistantTask,
  assistantTask,
  type Related,
  taskWithinBudget,
} from '../../domain/assistant-task.ts'
import { fencedMembers, UNTRUSTED } from '../../domain/untrusted.ts'
import { without } from '../../lib/without.ts'
import type { WrittenTask } from '../../schemas/task.ts'

/** A task without its long texts: whoever has just written it knows them. */
export const briefResult = (summary: string, task: WrittenTask) =>
  taskResult(summary, assistantTask(without(task, ['description', 'notes'])))

/** A task with as much of its texts, and of what is related to it, as a budget has room for. */
export function wholeResult(
  summary: string,
  { task, related, budgetTokens }: { task: WrittenTask; related?: Related; budgetTokens: number },
) {
  const whole = taskWithinBudget({ ...assistantTask(task), ...related }, budgetTokens)
  const more = whole.cut
    ? ` Cut: ${whole.cut.join(', ')}. A larger budgetTokens of get_task returns more.`
    : ''
  return taskResult(`${summary}${more}`, whole)
}

/** Without `tasks:read` the service returns nothing of a task that somebody else wrote. */
function taskResult(summary: string, task: AssistantTask) {
  const { id, version, title } = task
  if (title === undefined) return { data: task, text: () => `${summary} Task ${id}, version ${version}.` }
  return { data: { notice: UNTRUSTED, ...task }, text: () => textOf(summary, fencedMembers(task)) }
}

export function* textOf(summary: string, lines: Iterable<string>): Generator<string> {
  yield `${summary}\n\n`
  yield* lines
}
