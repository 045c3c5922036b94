import { useQueryClient } from '@tanstack/react-query'
import { useMemo } from 'react'
import { answerOf, api, type Schema } from '../api/client.ts'
import { type Problem, problemOf } from '../api/problem.ts'
import type { Task, TaskFilters, TaskListItem } from '../api/queries.ts'
import { tell } from '../parts/tell.ts'
import { dropTasks, listsHolding, previewChange, putInPlace, replaceTasks } from './task-cache.ts'

type Change = Schema<'TaskChange'>
type Known = Task | TaskListItem
type Write<T extends Known = Known> = (task: T) => Promise<Task>

/** Something done to tasks, each on its own. */
interface Deed {
  /** What it will look like. */
  changeOf(task: Known): Change
  write: Write
  takeBack(task: Task, before: Known | undefined): Promise<Task>
  words: string
}

export interface TaskActions {
  toggleDone(task: Known): void
  /** Changes tasks and offers to take it back. What fails stays as it was, and says why. */
  change(tasks: Known[], change: Change): Promise<void>
  /** Adds a label to those that do not have it. */
  addLabel(tasks: Known[], label: string): Promise<void>
  remove(tasks: Known[]): Promise<void>
}

/** A browser and a service are both better off with a few at a time. */
const AT_ONCE = 6
/** Whoever writes a task this often at once is a machine. */
const MOST_ATTEMPTS = 5
/** So many characters of a title say which task it was. */
const TITLE_SAID = 60

export function useTaskActions(): TaskActions {
  const cache = useQueryClient()
  return useMemo(() => {
    async function send<T extends Known>(tasks: T[], write: Write<T>) {
      const done: Task[] = []
      const failures = await eachOf(tasks, async (task) => void done.push(await write(task)))
      replaceTasks(cache, done)
      return { done, failures }
    }

    async function changeEach(tasks: Known[], { changeOf, write, takeBack, words }: Deed) {
      const hidePreview = previewChange(
        cache,
        tasks.map(({ id }) => id),
        (task) => changeOf(task) as Partial<TaskListItem>,
      )
      const { done, failures } = await send(tasks, write)
      if (failures.length > 0) {
        hidePreview()
        replaceTasks(cache, done)
        tell.problem(failed(failures.length, tasks.length, 'changed'), problemOf(failures[0]))
      }
      if (done.length === 0) return
      const before = new Map(tasks.map((task) => [task.id, task]))
      tell.undoable(sentenceOf(words, done), async () => {
        const undone = await send(done, (task) => takeBack(task, before.get(task.id)))
        if (undone.failures.length > 0)
          tell.problem('Not everything could be taken back', problemOf(undone.failures[0]))
      })
    }

    const change = (tasks: Known[], change: Change) =>
      changeEach(tasks, {
        changeOf: () => change,
        write: (task) => patch(task.id, change),
        takeBack: (task, before) => patch(task.id, earlier(before, change)),
        words: wordsFor(change),
      })

    async function addLabel(tasks: Known[], label: string) {
      const without = tasks.filter(({ labels }) => !labels.includes(label))
      if (without.length === 0) return tell.done(`All of them have the label ${label}.`)
      const withIt = (labels: string[]) => (labels.includes(label) ? labels : [...labels, label])
      await changeEach(without, {
        changeOf: ({ labels }) => ({ labels: withIt(labels) }),
        write: (task) => relabel(task, withIt),
        takeBack: (task) => relabel(task, (labels) => labels.filter((one) => one !== label)),
        words: `Label ${label} added`,
      })
    }

    async function remove(tasks: Known[]) {
      const gone: Known[] = []
      const holders = listsHolding(
        cache,
        tasks.map(({ id }) => id),
      )
      const failures = await eachOf(tasks, async (task) => {
        await answerOf(api.DELETE('/api/tasks/{id}', { params: { path: { id: task.id } } }))
        gone.push(task)
      })
      dropTasks(
        cache,
        gone.map(({ id }) => id),
      )
      if (failures.length > 0)
        tell.problem(failed(failures.length, tasks.length, 'deleted'), problemOf(failures[0]))
      if (gone.length > 0) {
        tell.undoable(sentenceOf('Deleted', gone), () => restore(gone, holders))
      }
    }

    /** Each comes back where it was, in every list that held it. */
    async function restore(tasks: Known[], holders: Map<string, TaskFilters[]>) {
      const failures = await eachOf(tasks, async ({ id }) => {
        const task = await answerOf(api.POST('/api/tasks/{id}/restore', { params: { path: { id } } }))
        cache.setQueryData(['task', id], task)
        for (const filters of holders.get(id) ?? []) putInPlace(cache, filters, [task as TaskListItem])
      })
      if (failures.length > 0) tell.problem('Not everything came back', problemOf(failures[0]))
    }

    return {
      change,
      addLabel,
      remove,
      toggleDone: (task) => void change([task], { status: task.status === 'done' ? 'open' : 'done' }),
    }
  }, [cache])
}

const patch = (id: string, body: Change, version?: number) =>
  answerOf(
    api.PATCH('/api/tasks/{id}', {
      params: { path: { id }, ...(version && { header: { 'if-match': `"${version}"` } }) },
      body,
    }),
  )

/** Labels are written whole: on top of those that somebody else gave meanwhile, never instead of them. */
async function relabel(task: Known, labelsOf: (labels: string[]) => string[]): Promise<Task> {
  let known = task
  for (let attempt = 1; ; attempt++) {
    try {
      return await patch(known.id, { labels: labelsOf(known.labels) }, known.version)
    } catch (error) {
      if (problemOf(error).status !== 412 || attempt === MOST_ATTEMPTS) throw error
      known = await answerOf(api.GET('/api/tasks/{id}', { params: { path: { id: task.id } } }))
    }
  }
}

/** Runs a few at a time; answers what went wrong. What comes too fast for the service is sent again when it says. */
async function eachOf<T>(items: T[], work: (item: T) => Promise<void>): Promise<unknown[]> {
  const failures: unknown[] = []
  const waiting = [...items]
  let left = items.length
  let pause: Promise<void> | undefined
  const worker = async () => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) {
      await pause
      const problem = await work(item).then(() => undefined, problemOf)
      if (problem?.status === 429) {
        waiting.push(item)
        pause ??= pauseOf(problem, left).then(() => {
          pause = undefined
        })
        continue
      }
      left--
      if (problem) failures.push(problem)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  return failures
}

function pauseOf({ retryAfterSeconds = 1 }: Problem, count: number): Promise<void> {
  const ms = retryAfterSeconds * 1_000
  const who = count === 1 ? '1 task waits' : `${count.toLocaleString()} tasks wait`
  tell.done(`${who} for the rate limit of your key, for ${retryAfterSeconds} s. Keep this page open.`, ms)
  return new Promise((resolve) => setTimeout(resolve, ms))
}

/** What the fields of a change held before it. */
const earlier = (task: Known | undefined, change: Change): Change =>
  Object.fromEntries(Object.keys(change).map((name) => [name, task?.[name as keyof Known]])) as Change

const failed = (count: number, of: number, what: string) =>
  of === 1 ? `It was not ${what}` : `${count} of ${of} tasks were not ${what}`

/** What was done, and to which. */
function sentenceOf(words: string, [first, ...others]: Known[]): string {
  if (others.length > 0) return `${others.length + 1} tasks: ${words}.`
  const title = [...(first?.title ?? '')]
  return `${words}: ${title.length > TITLE_SAID ? `${title.slice(0, TITLE_SAID).join('')}…` : title.join('')}`
}

function wordsFor({ status, priority, listId }: Change): string {
  if (status === 'done') return 'Done'
  if (status === 'open') return 'Open again'
  if (status === 'in_progress') return 'In progress'
  if (priority) return `Priority ${priority}`
  return listId ? 'Moved' : 'Changed'
}
