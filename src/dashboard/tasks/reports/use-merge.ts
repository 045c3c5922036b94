import { useQueryClient } from '@tanstack/react-query'
import { api, dataOf } from '../../api/client.ts'
import type { TaskListItem } from '../../api/queries.ts'
import { recordsOf } from '../../api/task-records.ts'
import { offerUndo, undoRequest } from '../../components/undo.tsx'
import { useMutation } from '../../components/use-mutation.ts'
import { plural } from '../../lib/plural.ts'
import { batchesOf } from '../edits/bulk.ts'
import { sendAll } from '../edits/task-requests.ts'
import { shortTitle } from '../edits/toast-text.ts'

type Titled = Pick<TaskListItem, 'id' | 'title'>
type Mergeable = Titled & Pick<TaskListItem, 'triaged'>

/** Merges and unmerges tasks; both can be undone. */
export function useMerge() {
  const queryClient = useQueryClient()
  const { mutate, refresh, isBusy } = useMutation('task', 'timeline', 'similar', 'reports')

  async function send(request: Promise<object>): Promise<void> {
    const receive = recordsOf(queryClient).request()
    // With `tasks:read`, which the list requires, a write returns full tasks.
    receive([(await request) as TaskListItem])
  }
  const sendMerge = (id: string, into: string) =>
    send(dataOf(api.POST('/api/tasks/{id}/merge', { params: { path: { id } }, body: { into } })))
  const sendUnmerge = (id: string) =>
    send(dataOf(api.POST('/api/tasks/{id}/unmerge', { params: { path: { id } } })))

  /** A merge decides about a task, and its undo takes that back as well. */
  async function sendBackToTriage(tasks: Titled[]): Promise<void> {
    const receive = recordsOf(queryClient).request()
    const { done, failures } = await sendAll(batchesOf(tasks, () => ({ triaged: false })))
    receive(done)
    if (failures[0]) throw failures[0].problem
  }

  return {
    isBusy,
    /** Merges tasks into one of their project. They leave lists of what is open at once. */
    merge: (reports: Mergeable[], target: Titled) =>
      mutate("Couldn't merge the tasks", async () => {
        const merged: Mergeable[] = []
        const endPreview = recordsOf(queryClient).preview({
          ids: new Set(reports.map(({ id }) => id)),
          changeOf: () => ({ status: 'done', mergedInto: target.id, triaged: true }),
        })
        const unmergeAll = async () => {
          for (const { id } of merged) await sendUnmerge(id)
          await sendBackToTriage(merged.filter(({ triaged }) => !triaged))
          await refresh()
        }
        try {
          for (const report of reports) {
            await sendMerge(report.id, target.id)
            merged.push(report)
          }
        } finally {
          endPreview()
          if (merged.length > 0) offerUndo(undoRequest(mergedText(merged, target), unmergeAll))
        }
      }),
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
