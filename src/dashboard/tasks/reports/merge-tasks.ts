import type { QueryClient } from '@tanstack/react-query'
import { api, dataOf } from '../../api/client.ts'
import { invalidate } from '../../api/invalidate.ts'
import { isTransient } from '../../api/problem.ts'
import type { TaskListItem } from '../../api/queries.ts'
import { serverNow } from '../../api/server-clock.ts'
import { recordsOf } from '../../api/task-records.ts'
import { beginUndoable } from '../../components/undo.tsx'
import type { UndoAction } from '../../components/undo-stack.ts'
import { plural } from '../../lib/plural.ts'
import { batchesOf, type Change, type Failure } from '../edits/bulk.ts'
import { showFailures } from '../edits/failure-toast.tsx'
import { inTurn } from '../edits/in-turn.ts'
import { sendEach } from '../edits/send-each.ts'
import { getTask, sendAll } from '../edits/task-requests.ts'
import { changedText, failuresText, shortTitle } from '../edits/toast-text.ts'

export type Titled = Pick<TaskListItem, 'id' | 'title'>
export type Mergeable = Titled & Pick<TaskListItem, 'triaged' | 'snoozedUntil'>

/** What shows merged tasks, beside lists. */
export const MERGED_QUERIES = ['task', 'timeline', 'similar', 'reports']

interface Merge {
  reports: Mergeable[]
  target: Titled
}

/** Merges tasks into one of their project, which can be undone. They leave lists of what is open at once. */
export async function mergeTasks(queryClient: QueryClient, { reports, target }: Merge): Promise<void> {
  const records = recordsOf(queryClient)
  const merged: Mergeable[] = []
  const { promise, resolve } = Promise.withResolvers<Mergeable[]>()
  const action = undoMerge(queryClient, {
    label: mergedText(reports, target),
    targetId: target.id,
    merged: promise,
  })
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
        await sendMerge(queryClient, { id: report.id, into: target.id })
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
    retry: (unsent) => mergeTasks(queryClient, { reports: unsent, target }),
  })
  await refresh(queryClient)
}

interface MergeToUndo {
  label: string
  targetId: string
  /** Resolves when the service has responded. */
  merged: Promise<Mergeable[]>
  /** Whether they were unmerged before, as far as is known. */
  isRetry?: boolean
}

/** Takes back as much of a merge as it can: not what somebody else has merged elsewhere, or unmerged, since. */
function undoMerge(
  queryClient: QueryClient,
  { label, targetId, merged, isRetry = false }: MergeToUndo,
): UndoAction {
  return {
    label,
    async undo() {
      const items = await merged
      if (items.length === 0) return { isEmpty: true }
      const unmerged: Mergeable[] = []
      const changed: Mergeable[] = []
      const failures = await sendEach({
        items,
        label: 'Unmerging tasks',
        async send(task) {
          const { mergedInto } = await getTask(task.id)
          const isUnmerged = isRetry && mergedInto === null
          if (mergedInto !== targetId && !isUnmerged) return void changed.push(task)
          if (!isUnmerged) await sendUnmerge(queryClient, task.id)
          unmerged.push(task)
        },
      })
      const unsettled = await undoDecision(queryClient, unmerged)
      await refresh(queryClient)
      const all = [...failures, ...unsettled]
      if (all.length + changed.length === 0) return {}
      const remaining = all.filter(({ problem }) => isTransient(problem)).map(({ item }) => item)
      return {
        failure: [changed.length > 0 && changedText(changed), failuresText(all)].filter(Boolean).join(' '),
        ...(remaining.length > 0 && {
          remaining: undoMerge(queryClient, {
            label,
            targetId,
            merged: Promise.resolve(remaining),
            isRetry: true,
          }),
        }),
      }
    },
  }
}

/** A merge decides about a task, and its undo takes that back as well. */
async function undoDecision(queryClient: QueryClient, tasks: Mergeable[]): Promise<Failure<Mergeable>[]> {
  const receive = recordsOf(queryClient).request()
  const before = ({ triaged, snoozedUntil }: Mergeable): Change => ({
    ...(!triaged && { triaged }),
    ...(snoozedUntil !== null && Date.parse(snoozedUntil) > serverNow() && { snoozedUntil }),
  })
  const decided = tasks.filter((task) => Object.keys(before(task)).length > 0)
  const { done, failures } = await sendAll(batchesOf(decided, before))
  receive(done)
  return failures
}

export const sendMerge = (queryClient: QueryClient, { id, into }: { id: string; into: string }) =>
  send(queryClient, () =>
    dataOf(api.POST('/api/tasks/{id}/merge', { params: { path: { id } }, body: { into } })),
  )

export const sendUnmerge = (queryClient: QueryClient, id: string) =>
  send(queryClient, () => dataOf(api.POST('/api/tasks/{id}/unmerge', { params: { path: { id } } })))

async function send(queryClient: QueryClient, request: () => Promise<object>): Promise<void> {
  const receive = recordsOf(queryClient).request()
  // With `tasks:read`, which the list requires, a write returns full tasks.
  receive([(await request()) as TaskListItem])
}

const refresh = (queryClient: QueryClient) =>
  Promise.all(MERGED_QUERIES.map((key) => invalidate(queryClient, { queryKey: [key] })))

function mergedText(merged: Titled[], { title }: Titled): string {
  const [only, ...others] = merged
  const what = only && others.length === 0 ? `“${shortTitle(only.title)}”` : plural(merged.length, 'task')
  return `Merged ${what} into “${shortTitle(title)}”.`
}
