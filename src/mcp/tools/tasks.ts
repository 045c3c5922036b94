import { taskLines } from '../../domain/task-lines.ts'
import { fencedLines, UNTRUSTED } from '../../domain/untrusted.ts'
import type { TaskBrief } from '../../schemas/context.ts'
import type { Task } from '../../schemas/task.ts'
import { AddedComment, TaskLines, WholeTaskResult, WrittenTaskResult } from '../../schemas/tool-results.ts'
import {
  AddCommentInput,
  BUDGET_OF_TASK,
  CreateTaskInput,
  GetTaskInput,
  LINES_OF_PAGE,
  ListTasksInput,
  UpdateTaskInput,
} from '../../schemas/tools.ts'
import { commentOperations } from '../../services/comments.ts'
import { itemsOf } from '../../services/page.ts'
import { taskOperations } from '../../services/tasks/index.ts'
import { refuseArguments } from './arguments.ts'
import { claimTask } from './claims.ts'
import { briefResult, textOf, wholeResult } from './task-results.ts'
import { creates, openWorld, overwrites, reads, type Tool, tool } from './tool.ts'

/** Of 20,000 tasks each: a second or two. */
const MAX_EMPTY_PAGES = 10

/** How many reports and similar tasks `get_task` returns. */
const MAX_RELATED = 5

/** The tools for tasks. */
export const taskTools: Tool[] = [
  tool({
    name: 'list_tasks',
    title: 'List tasks',
    description:
      'Finds tasks that match all filters; several values of a filter match any of them. Returns short lines, in which … marks cut text: get_task returns a whole task. For the next page, pass nextCursor as cursor until it is null.',
    operation: taskOperations.list,
    annotations: { ...reads, ...openWorld },
    input: ListTasksInput,
    output: TaskLines,
    async run({ limit = LINES_OF_PAGE, ...query }, { caller, tasks, lists }) {
      const pageFrom = async (cursor?: string) => {
        const page = await tasks.list(caller, {
          ...query,
          ...(cursor !== undefined && { cursor }),
          limit,
          fields: 'summary',
        })
        return { found: itemsOf<TaskBrief>(page), nextCursor: page.nextCursor }
      }
      let { found, nextCursor } = await pageFrom(query.cursor)
      // A search that no index helps ends pages early: the assistant need not ask for each.
      for (let pages = 1; found.length === 0 && nextCursor !== null && pages < MAX_EMPTY_PAGES; pages++)
        ({ found, nextCursor } = await pageFrom(nextCursor))
      const names = await lists.names(caller, [...new Set(found.map(({ listId }) => listId))])
      const data = taskLines(found, names)
      const count = `${data.length} ${data.length === 1 ? 'task' : 'tasks'}`
      const next =
        nextCursor === null ? 'This is the last page.' : `For the next page, pass the cursor ${nextCursor}`
      return {
        data: { notice: UNTRUSTED, data, nextCursor },
        text: () => textOf(`${count}. ${next}`, fencedLines(data)),
      }
    },
  }),
  tool({
    name: 'get_task',
    title: 'Get a task',
    description:
      'Returns a task with its texts, version, and claim, the last 20 comments, reports (tasks merged into it), and similar tasks. Empty members are omitted. If cut names members, pass a larger budgetTokens for the rest.',
    operation: taskOperations.get,
    annotations: { ...reads, ...openWorld },
    input: GetTaskInput,
    output: WholeTaskResult,
    async run({ id, budgetTokens = BUDGET_OF_TASK }, { caller, tasks, comments, reports }) {
      const { json } = await tasks.get(caller, id)
      const task = JSON.parse(json) as Task
      const latest = await comments.latest(caller, id)
      const related = await reports.brief(caller, { task, limit: MAX_RELATED })
      return wholeResult('The task.', { task, related: { comments: latest, ...related }, budgetTokens })
    },
  }),
  tool({
    name: 'create_task',
    title: 'Create a task',
    description:
      'Creates a task. get_context has the lists; without a listId, it goes to the default list. Look for the same problem with list_tasks first. The same externalId again returns the existing task unchanged.',
    operation: taskOperations.create,
    annotations: { ...creates, ...openWorld },
    input: CreateTaskInput,
    output: WrittenTaskResult,
    async run(args, { caller, tasks }) {
      const { task, isNew } = await tasks.create(caller, { input: args })
      return briefResult(isNew ? 'Created.' : 'A task with this externalId already exists.', task)
    },
  }),
  tool({
    name: 'update_task',
    title: 'Update a task',
    description:
      'Changes the given fields; null clears one. Pass the version that you read, to overwrite no later change. A claimed task needs claimNumber, of your own claim.',
    operation: taskOperations.update,
    annotations: { ...overwrites, ...openWorld },
    input: UpdateTaskInput,
    output: WrittenTaskResult,
    async run({ id, mergeInto, unmerge = false, ...fields }, { caller, tasks, reports }) {
      if (unmerge) {
        refuseArguments({ mergeInto, ...fields }, besides('unmerge'))
        return briefResult('Unmerged.', await reports.unmerge(caller, id))
      }
      const { claimNumber, ...others } = fields
      if (mergeInto !== undefined) {
        refuseArguments(others, besides('mergeInto'))
        return briefResult('Merged.', await reports.merge(caller, { id, into: mergeInto, claimNumber }))
      }
      const { version, ...change } = others
      const allowed = version === undefined ? undefined : [version]
      return briefResult('Updated.', await tasks.update(caller, { id, change, claimNumber, allowed }))
    },
  }),
  claimTask,
  tool({
    name: 'add_comment',
    title: 'Comment on a task',
    description:
      'Adds a comment to a task: a question, a result, or what blocks the work. With needsAnswer, it ends your claim, and the task is not ready until a person answers: take another one. Internal unless isPublic, which posts it to the code host, too.',
    operation: commentOperations.create,
    annotations: { ...creates, ...openWorld },
    input: AddCommentInput,
    output: AddedComment,
    async run({ id: taskId, ...comment }, { caller, comments }) {
      const { id } = await comments.create(caller, { taskId, comment })
      const next = comment.needsAnswer ? ' The task waits for an answer. Go on with another one.' : ''
      return { data: { id }, text: () => `Added the comment ${id}.${next}` }
    },
  }),
]

/** Merging and unmerging decide about the status, in a change of its own. */
const besides = (name: string) => `is not supported with ${name}; pass it in another call`
