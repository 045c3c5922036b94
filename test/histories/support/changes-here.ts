import type { ChangeHere } from './steps.ts'
import type { ConnectedProject, World } from './world.ts'

/** Makes a change in a project as a caller of the API does, unless there is nothing to change. */
export async function changeHere(
  { query, tasks, comments, reports }: World,
  { id: projectId, caller }: ConnectedProject,
  { what, item: nth, comment: nthComment }: ChangeHere,
): Promise<void> {
  const rows: { id: string; status: string; deleted_at: Date | null }[] = await query(
    'select id, status, deleted_at from tasks where project_id = $1 order by codehost_number',
    [projectId],
  )
  const candidates = rows.filter(({ deleted_at }) => (deleted_at !== null) === (what === 'restore'))
  const task = candidates[nth % Math.max(1, candidates.length)]
  if (!task) return
  const { id } = task
  const set = (change: Parameters<typeof tasks.update>[1]['change']) => tasks.update(caller, { id, change })
  switch (what) {
    case 'complete or reopen':
      await set({ status: task.status === 'done' ? 'open' : 'done' })
      return
    case 'start':
      await set({ status: 'in_progress' })
      return
    case 'priority':
      await set({ priority: nthComment % 2 === 0 ? 'high' : 'low' })
      return
    case 'comment':
      return comment(true)
    case 'private comment':
      return comment(false)
    case 'edit comment':
    case 'delete comment': {
      const own = await query(
        `select id, body from comments where task_id = $1 and author_type <> 'codehost' order by id`,
        [id],
      )
      const chosen = own[nthComment % Math.max(1, own.length)]
      if (!chosen) return comment(true)
      if (what === 'delete comment') await comments.delete(caller, chosen.id)
      else await comments.update(caller, { id: chosen.id, change: { body: `${chosen.body} edited` } })
      return
    }
    case 'delete':
      await tasks.delete(caller, { id, allowed: undefined })
      return
    case 'restore':
      await tasks.restore(caller, id)
      return
    case 'merge': {
      const into = candidates.find((other) => other.id !== id)
      if (into) await reports.merge(caller, { id, into: into.id })
      return
    }
    case 'unmerge':
      await reports.unmerge(caller, id)
  }

  async function comment(isPublic: boolean): Promise<void> {
    const comment = { body: `Ours ${nth}.${nthComment}`, isPublic }
    await comments.create(caller, { taskId: id, comment })
  }
}
