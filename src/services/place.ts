import { listNotFound, projectNotFound, validationFailed } from '../errors/index.ts'
import { type BoundRepositories, onlyProjectOf, type Reach } from '../repositories/index.ts'

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

/**
 * The project of a request that names none: the only one in reach, or null if all are.
 * @throws validation_failed if there are several
 */
export function defaultProjectOf(reach: Reach, path = '/projectId'): string | null {
  const projectId = onlyProjectOf(reach)
  if (projectId !== null || reach.projectIds === null) return projectId
  throw validationFailed([
    { path, code: 'required', message: 'is required, because you can access several projects' },
  ])
}
