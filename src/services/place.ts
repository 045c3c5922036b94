import { listNotFound, projectNotFound } from '../errors/index.ts'
import type { BoundRepositories } from '../repositories/index.ts'

/**
 * Requires the project and list of a request, if it names any, to be in reach.
 * @throws project_not_found, list_not_found
 */
export async function requirePlace(
  { projects, lists }: Pick<BoundRepositories, 'projects' | 'lists'>,
  { projectId, listId }: { projectId?: string | undefined; listId?: string | undefined },
): Promise<void> {
  if (projectId && !(await projects.find(projectId))) throw projectNotFound(projectId)
  if (listId && !(await lists.find(listId))) throw listNotFound(listId)
}
