import { projectArchived, projectNotFound } from '../errors/index.ts'
import type { BoundRepositories } from '../repositories/index.ts'
import type { ProjectRow } from '../repositories/projects.ts'

/**
 * Finds a writable project and locks it until the transaction ends: it cannot be archived or deleted meanwhile. The
 * order of locks is the same everywhere: project, connection, run, lists, deliveries, tasks; or project, rules.
 * @param lock `update` also excludes others who change its lists, their order, its rules or its connection.
 * @throws project_not_found, project_archived
 */
export async function writableProject(
  repos: Pick<BoundRepositories, 'projects'>,
  { id, lock = 'share' }: { id: string; lock?: 'share' | 'update' | undefined },
): Promise<ProjectRow> {
  const { findForShare, findForUpdate } = repos.projects
  const project = await (lock === 'update' ? findForUpdate : findForShare)(id)
  if (!project) throw projectNotFound(id)
  refuseArchived(project)
  return project
}

/** @throws project_archived */
export function refuseArchived({ name, archivedAt }: Pick<ProjectRow, 'name' | 'archivedAt'>): void {
  if (archivedAt) throw projectArchived(name)
}
