import { listNotFound } from '../errors/index.ts'
import type { BoundRepositories } from '../repositories/index.ts'
import { writableProject } from './writable-project.ts'

/**
 * Locks a list for a change, with its project, the project's other lists and the connection that adds tasks.
 * @throws list_not_found, project_archived
 */
export async function lockedList(repos: BoundRepositories, id: string) {
  const seen = await repos.lists.find(id)
  if (!seen) throw listNotFound(id)
  await writableProject(repos, { id: seen.projectId, lock: 'update' })
  await repos.codehost.findForUpdate(seen.projectId)
  const lists = await repos.lists.listForUpdate(seen.projectId)
  const list = lists.find((list) => list.id === seen.id)
  if (!list) throw listNotFound(id)
  return { list, lists }
}
