import { useQueryClient } from '@tanstack/react-query'
import { api, dataOf } from '../../api/client.ts'
import { isTransient } from '../../api/problem.ts'
import type { TaskListItem } from '../../api/queries.ts'
import { recordsOf } from '../../api/task-records.ts'
import { beginUndoable, offerUndo, undoRequest } from '../../components/undo.tsx'
import type { UndoAction } from '../../components/undo-stack.ts'
import { useMutation } from '../../components/use-mutation.ts'
import { plural } from '../../lib/plural.ts'
import { batchesOf, type Failure } from '../edits/bulk.ts'
import { showFailures } from '../edits/failure-toast.tsx'
import { inTurn } from '../edits/in-turn.ts'
import { sendEach } from '../edits/send-each.ts'
import { sendAll } from '../edits/task-requests.ts'
import { failuresText, shortTitle } from '../edits/toast-text.ts'

type Titled = Pick<TaskListItem, 'id' | 'title'>
type Mergeable = Titled & Pick<TaskListItem, 'triaged'>

/** Merges and unmerges tasks; both can be undone. */
export function useMerge() {
  const queryClient = useQueryClient()
  const records = recordsOf(queryClient)
  const { mutate, refresh, isBusy } = useMutation('task', 'timeline', 'similar', 'reports')

  async function send(request: Promise<object>): Promise<void> {
    const receive = records.request()
    // With `tasks:read`, which the list requires, a write returns full tasks.
    receive([(await request) as TaskListItem])
  }
  const sendMerge = (id: string, into: string) =>
    send(dataOf(api.POST('/api/tasks/{id}/merge', { params: { path: { id } }, body: { into } })))
  const sendUnmerge = (id: string) =>
    send(dataOf(api.POST('/api/tasks/{id}/unmerge', { params: { path: { id } } })))

  /** A merge decides about a task, and its undo takes that back as well. */
  async function sendBackToTriage(tasks: Mergeable[]): Promise<Failure<Mergeable>[]> {
    const receive = records.request()
    const untriaged = tasks.filter(({ triaged }) => !triaged)
    const { done, failures } = await sendAll(batchesOf(untriaged, () => ({ triaged: false })))
    receive(done)
    return failures
  }

  /** Takes back as much of a merge as it can. `merged` resolves when the service has responded. */
  function undoMerge(label: string, merged: Promise<Mergeable[]>): UndoAction {
    return {
      label,
      async undo() {
        const items = await merged
        if (items.length === 0) return { isEmpty: true }
        const unmerged: Mergeable[] = []
        const failures = await sendEach({
          items,
          label: 'Unmerging tasks',
          async send(task) {
            await sendUnmerge(task.id)
            unmerged.push(task)
          },
        })
        const untriaged = await sendBackToTriage(unmerged)
        await refresh()
        const all = [...failures, ...untriaged]
        if (all.length === 0) return {}
        const remaining = all.filter(({ problem }) => isTransient(problem)).map(({ item }) => item)
        return {
          failure: failuresText(all),
          ...(remaining.length > 0 && { remaining: undoMerge(label, Promise.resolve(remaining)) }),
        }
      },
    }
  }

  /** Merges tasks into one of their project. They leave lists of what is open at once. */
  function merge(reports: Mergeable[], target: Titled): Promise<void> {
    return mutate("Couldn't merge the tasks", async () => {
      const merged: Mergeable[] = []
      const { promise, resolve } = Promise.withResolvers<Mergeable[]>()
      const action = undoMerge(mergedText(reports, target), promise)
      // Before it is sent: an undo right after it is meant for it.
      const pendingUndo = beginUndoable(action)
      const ids = reports.map(({ id }) => id)
      const endPreview = records.preview({
        ids: new Set(ids),
        changeOf: () => ({ status: 'done', mergedInto: target.id, triaged: true }),
      })
      const failures = await inTurn([target.id, ...ids], () =>
        sendEach({
          items: reports,
          label: 'Merging tasks',
          async send(report) {
            await sendMerge(report.id, target.id)
            merged.push(report)
          },
        }),
      ).finally(endPreview)
      resolve(merged)
      action.label = mergedText(merged, target)
      if (merged.length > 0) pendingUndo.complete()
      else pendingUndo.discard()
      showFailures({
        verb: 'merge',
        failures,
        count: reports.length,
        // What reached the service all the same stays merged.
        retry: (unsent) => merge(unsent, target),
      })
    })
  }

  return {
    isBusy,
    merge,
    unmerge: ({ id, title }: Titled, from: string) =>
      mutate("Couldn't unmerge the task", async () => {
        await sendUnmerge(id)
        offerUndo(undoRequest(`Unmerged: ${shortTitle(title)}`, () => sendMerge(id, from).then(refresh)))
      }),
  }
}

function mergedText(merged: Titled[], { title }: Titled): string {
  const [only, ...others] = merged
  const what = only && others.length === 0 ? `“${shortTitle(only.title)}”` : plural(merged.length, 'task')
  return `Merged ${what} into “${shortTitle(title)}”.`
}
