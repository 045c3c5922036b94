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
import type { Task } from '../edits/bulk.ts'
import { showFailures } from '../edits/failure-toast.tsx'
import { inTurn } from '../edits/in-turn.ts'
import { sendEach } from '../edits/send-each.ts'
import { getTask } from '../edits/task-requests.ts'
import { changedText, failuresText, shortTitle } from '../edits/toast-text.ts'
import { type Edit, editsOf, keptText, type UndoEditsResult, undoEdits } from '../edits/undo-edits.ts'
import { undoIoOf } from '../edits/undo-io.ts'

export type Titled = Pick<TaskListItem, 'id' | 'title'>
export type Mergeable = Titled & Pick<TaskListItem, 'triaged' | 'snoozedUntil' | 'question'>

/** What shows merged tasks, beside lists. */
export const MERGED_QUERIES = ['task', 'timeline', 'similar', 'reports']

/** With what its merge has made of it. */
interface Merged extends Mergeable {
  result: Task
}

interface Merge {
  reports: Mergeable[]
  target: Titled
}

/** Merges tasks into one of their project, which can be undone. They leave lists of what is open at once. */
export async function mergeTasks(queryClient: QueryClient, { reports, target }: Merge): Promise<void> {
  const records = recordsOf(queryClient)
  const merged: Merged[] = []
  const { promise, resolve } = Promise.withResolvers<Merged[]>()
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
        const result = await sendMerge(queryClient, { id: report.id, into: target.id })
        merged.push({ ...report, result })
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
  merged: Promise<Merged[]>
  /** Whether they were unmerged before, as far as is known. */
  isRetry?: boolean
}

/**
 * Takes back as much of a merge as it can: not what somebody else has merged elsewhere, or unmerged, since. What somebody
 * has decided about since stays out of Triage.
 */
function undoMerge(
  queryClient: QueryClient,
  { label, targetId, merged, isRetry = false }: MergeToUndo,
): UndoAction {
  return {
    label,
    async undo() {
      const items = await merged
      if (items.length === 0) return { isEmpty: true }
      const edits: Edit[] = []
      const changed: Merged[] = []
      const failures = await sendEach({
        items,
        label: 'Unmerging tasks',
        async send(task) {
          const current = await getTask(task.id)
          const isUnmerged = isRetry && current.mergedInto === null
          if (current.mergedInto !== targetId && !isUnmerged) return void changed.push(task)
          const now = isUnmerged ? current : await sendUnmerge(queryClient, task.id)
          edits.push(...decisionEdits(task, now))
        },
      })
      const decisions = await undoDecisions(queryClient, edits)
      await refresh(queryClient)
      const kept = keptText(items.length, decisions)
      const all = [...failures, ...decisions.failures]
      if (all.length + changed.length === 0) return { kept }
      const unfinished = new Set(all.filter(({ problem }) => isTransient(problem)).map(({ item }) => item.id))
      const remaining = items.filter(({ id }) => unfinished.has(id))
      return {
        failure: [changed.length > 0 && changedText(changed), failuresText(all)].filter(Boolean).join(' '),
        kept,
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

/** What a merge has decided about a task, which unmerging it does not take back. */
function decisionEdits({ id, triaged, snoozedUntil, question, result }: Merged, { status }: Task): Edit[] {
  const isSnoozed = snoozedUntil !== null && Date.parse(snoozedUntil) > serverNow()
  // The status is what it was before, and no decision of somebody else.
  const before = { triaged, snoozedUntil: isSnoozed ? snoozedUntil : null, question, status }
  const edits = editsOf({
    before: new Map([[id, before]]),
    done: [result],
    fields: ['triaged', 'snoozedUntil', 'question', 'status'],
  })
  return edits.filter(({ after }) => Object.keys(after).some((name) => name !== 'status'))
}

async function undoDecisions(queryClient: QueryClient, edits: Edit[]): Promise<UndoEditsResult> {
  const receive = recordsOf(queryClient).request()
  const result = await undoEdits(edits, undoIoOf(queryClient))
  receive(result.undone)
  // What somebody has decided about since is unmerged all the same.
  return { ...result, kept: [...result.kept, ...result.changed] }
}

export const sendMerge = (queryClient: QueryClient, { id, into }: { id: string; into: string }) =>
  send(queryClient, () =>
    dataOf(api.POST('/api/tasks/{id}/merge', { params: { path: { id } }, body: { into } })),
  )

export const sendUnmerge = (queryClient: QueryClient, id: string) =>
  send(queryClient, () => dataOf(api.POST('/api/tasks/{id}/unmerge', { params: { path: { id } } })))

async function send(queryClient: QueryClient, request: () => Promise<object>): Promise<Task> {
  const receive = recordsOf(queryClient).request()
  // With `tasks:read`, which the list requires, a write returns full tasks.
  const task = (await request()) as Task
  receive([task])
  return task
}

const refresh = (queryClient: QueryClient) =>
  Promise.all(MERGED_QUERIES.map((key) => invalidate(queryClient, { queryKey: [key] })))

function mergedText(merged: Titled[], { title }: Titled): string {
  const [only, ...others] = merged
  const what = only && others.length === 0 ? `“${shortTitle(only.title)}”` : plural(merged.length, 'task')
  return `Merged ${what} into “${shortTitle(title)}”.`
}
