import type { TaskConnection } from '../../domain/codehost/write-back.ts'
import { lockConflict, taskNotFound } from '../../errors/index.ts'
import type { BoundRepositories } from '../../repositories/index.ts'
import type { ProjectRow } from '../../repositories/projects.ts'
import type { TaskRow } from '../../repositories/tasks.ts'
import { refuseArchived } from '../writable-project.ts'

export interface TaskLocks {
  ids: string[]
  /** A list that the tasks may move to; its project is locked, too. */
  listId?: string | undefined
  /** Includes deleted tasks. */
  hidden?: boolean
  /** Whether the tasks may be blocked by more tasks afterwards. */
  addsBlockers?: boolean
  /** The long texts that the tasks are compared with; they have no others. */
  texts?: string[]
}

/** The locked tasks by id; a missing one does not exist or is out of reach. */
export interface LockedTasks {
  /** Without long texts, except for those that they are compared with. */
  tasks: Map<string, TaskRow>
  /** Their projects, locked so that none is archived or deleted meanwhile. */
  projects: Map<string, ProjectRow>
  /** The connections of the projects of code-host tasks. */
  connections: Map<string, TaskConnection>
}

/**
 * Locks tasks to be changed, after their projects: the same order as everywhere. If a task moves meanwhile, the transaction
 * begins again.
 */
export async function lockTasks(
  repos: BoundRepositories,
  { ids, listId, hidden = false, addsBlockers = false, texts }: TaskLocks,
): Promise<LockedTasks> {
  const projects = byId(await repos.projects.listForShare(ids, listId))
  if (addsBlockers) await repos.taskDependencies.lock([...projects.keys()])
  const tasks = byId(await repos.tasks.listForUpdate(ids, { hidden, texts }))
  if (![...tasks.values()].every(({ projectId }) => projects.has(projectId)))
    throw lockConflict('A task moved to another project before it was locked.')
  const synced = [...tasks.values()].filter(({ source }) => source === 'codehost')
  const projectIds = [...new Set(synced.map(({ projectId }) => projectId))]
  return { tasks, projects, connections: await repos.codehost.connectionsOf(projectIds) }
}

/** @throws task_not_found, project_archived */
export function writableTask({ tasks, projects }: LockedTasks, id: string): TaskRow {
  const task = tasks.get(id.toLowerCase())
  if (!task) throw taskNotFound(id)
  const project = projects.get(task.projectId)
  if (project) refuseArchived(project)
  return task
}

const byId = <T extends { id: string }>(rows: T[]) => new Map(rows.map((row) => [row.id, row]))
