import { changeWriteBack, disconnectOrConnect, loseOrRegainAccess, noteChange } from './settings.ts'
import type { ChangeHere } from './steps.ts'
import type { ConnectedProject, World } from './world.ts'

/** Makes a change in a project as a caller of the API does, unless there is nothing to change. */
export async function changeHere(world: World, project: ConnectedProject, change: ChangeHere): Promise<void> {
  const { query, tasks, comments, reports, writeBack, deliveries } = world
  const { id: projectId, caller } = project
  const { what, item: nth, comment: nthComment } = change
  if (what === 'write back') return changeWriteBack(world, project, nth)
  if (what === 'connection') return disconnectOrConnect(world, project)
  if (what === 'access') return loseOrRegainAccess(world, project)
  if (what === 'replay') return replay()
  const rows: { id: string; status: string; deleted_at: Date | null }[] = await query(
    'select id, status, deleted_at from tasks where project_id = $1 order by codehost_number',
    [projectId],
  )
  const candidates = rows.filter(({ deleted_at }) => (deleted_at !== null) === (what === 'restore'))
  const task = candidates[nth % Math.max(1, candidates.length)]
  if (!task) return
  const { id } = task
  noteChange(project, { taskId: id })
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
      noteChange(project, { commentId: chosen.id })
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
      return
    case 'retry':
      await writeBack.retry(caller, id)
  }

  async function comment(isPublic: boolean): Promise<void> {
    const comment = { body: `Ours ${nth}.${nthComment}`, isPublic }
    const created = await comments.create(caller, { taskId: id, comment })
    noteChange(project, { commentId: created?.id })
  }

  async function replay(): Promise<void> {
    const rows = await query('select id from deliveries where connection_id = $1 order by id', [
      project.connection?.id,
    ])
    const chosen = rows[(nth * 4 + nthComment) % Math.max(1, rows.length)]
    if (chosen) await deliveries.replay(caller, chosen.id)
  }
}

/** Retries and replays what has failed. In the trash, nothing can be retried. */
export async function retryAll(
  { query, tasks, writeBack, deliveries }: World,
  { connection, caller }: ConnectedProject,
): Promise<void> {
  const writes = await query(
    `select distinct task_id as id from codehost_writes where connection_id = $1 and status = 'failed'`,
    [connection?.id],
  )
  for (const { id } of writes) {
    await tasks.restore(caller, id)
    await writeBack.retry(caller, id)
  }
  const failed = await query(`select id from deliveries where connection_id = $1 and outcome = 'failed'`, [
    connection?.id,
  ])
  for (const { id } of failed) await deliveries.replay(caller, id)
}
