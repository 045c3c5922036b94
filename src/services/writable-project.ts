import { projectArchived, projectNotFound } from '../errors/index.ts'
import type { BoundRepositories } from '../repositories/index.ts'
import type { ProjectRow } from '../repositories/projects.ts'

/**
 * Finds a project that can be written to, and locks it until the transaction ends, so that it is neither archived nor
 * deleted meanwhile. Everywhere it is locked first: then its connection and the run, its lists, the inbox of feedback,
 * tasks; or its rules.
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
