import { useQueryClient } from '@tanstack/react-query'
import { useMemo } from 'react'
import { answerOf, api, type Schema } from '../api/client.ts'
import { problemOf } from '../api/problem.ts'
import type { Task, TaskListItem } from '../api/queries.ts'
import { tell } from '../parts/tell.ts'
import { dropTasks, previewChange, replaceTasks } from './task-cache.ts'

type Change = Schema<'TaskChange'>
type Known = Task | TaskListItem
type Sentence = (done: Task[]) => string

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

export function useTaskActions(): TaskActions {
  const cache = useQueryClient()
  return useMemo(() => {
    async function send(tasks: Known[], bodyOf: (task: Known) => Change) {
      const done: Task[] = []
      const failures = await eachOf(tasks, async (task) => {
        const path = { id: task.id }
        done.push(await answerOf(api.PATCH('/api/tasks/{id}', { params: { path }, body: bodyOf(task) })))
      })
      replaceTasks(cache, done)
      return { done, failures }
    }

    async function changeEach(tasks: Known[], changeOf: (task: Known) => Change, sentence: Sentence) {
      const takeBack = previewChange(
        cache,
        tasks.map(({ id }) => id),
        (task) => changeOf(task) as Partial<TaskListItem>,
      )
      const { done, failures } = await send(tasks, changeOf)
      if (failures.length > 0) {
        takeBack()
        replaceTasks(cache, done)
        tell.problem(failed(failures.length, tasks.length, 'changed'), problemOf(failures[0]))
      }
      if (done.length === 0) return
      const before = new Map(tasks.map((task) => [task.id, task]))
      tell.undoable(sentence(done), async () => {
        const undone = await send(done, (task) => earlier(before.get(task.id), changeOf(task)))
        if (undone.failures.length > 0)
          tell.problem('Not everything could be taken back', problemOf(undone.failures[0]))
      })
    }

    const change = (tasks: Known[], change: Change) =>
      changeEach(
        tasks,
        () => change,
        (done) => sentenceOf(change, done),
      )

    async function addLabel(tasks: Known[], label: string) {
      const without = tasks.filter(({ labels }) => !labels.includes(label))
      if (without.length === 0) return tell.done(`All of them have the label ${label}.`)
      await changeEach(
        without,
        ({ labels }) => ({ labels: labels.includes(label) ? labels : [...labels, label] }),
        (done) => `${countOf(done)}Label ${label} added.`,
      )
    }

    async function remove(tasks: Known[]) {
      const gone: Known[] = []
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
        tell.undoable(gone.length === 1 ? 'Deleted.' : `${gone.length} tasks deleted.`, () => restore(gone))
      }
    }

    async function restore(tasks: Known[]) {
      const failures = await eachOf(tasks, async ({ id }) => {
        await answerOf(api.POST('/api/tasks/{id}/restore', { params: { path: { id } } }))
      })
      if (failures.length > 0) tell.problem('Not everything came back', problemOf(failures[0]))
      await cache.resetQueries({ queryKey: ['tasks'] })
    }

    return {
      change,
      addLabel,
      remove,
      toggleDone: (task) => void change([task], { status: task.status === 'done' ? 'open' : 'done' }),
    }
  }, [cache])
}

/** Runs a few at a time; answers what went wrong. */
async function eachOf<T>(items: T[], work: (item: T) => Promise<void>): Promise<unknown[]> {
  const failures: unknown[] = []
  const waiting = [...items]
  const worker = async () => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) {
      await work(item).catch((error) => failures.push(error))
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  return failures
}

/** What the fields of a change held before it. */
const earlier = (task: Known | undefined, change: Change): Change =>
  Object.fromEntries(Object.keys(change).map((name) => [name, task?.[name as keyof Known]])) as Change

const failed = (count: number, of: number, what: string) =>
  of === 1 ? `It was not ${what}` : `${count} of ${of} tasks were not ${what}`

const countOf = (tasks: Task[]) => (tasks.length === 1 ? '' : `${tasks.length} tasks: `)

function sentenceOf(change: Change, tasks: Task[]): string {
  const what = countOf(tasks)
  if (change.status === 'done') return `${what}Done.`
  if (change.status === 'open') return `${what}Open again.`
  if (change.status === 'in_progress') return `${what}In progress.`
  if (change.priority) return `${what}Priority ${change.priority}.`
  if (change.listId) return `${what}Moved.`
  return `${what}Changed.`
}
