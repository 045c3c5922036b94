import { type AnyColumn, eq, type Placeholder, type SQL, sql } from '../db/drizzle.ts'

/** What a caller can see: some projects or all. Part of every query, so that no route can omit it. */
export interface Reach {
  /** Different ones, and at least one; null for all. */
  projectIds: readonly string[] | null
}

export const everywhere: Reach = { projectIds: null }

/** The reach of one project. */
export const inProject = (projectId: string): Reach => ({ projectIds: [projectId] })

/** The project of a reach that has one: the default where a request names none. */
export function onlyProjectOf({ projectIds }: Reach): string | null {
  const [projectId = null, ...others] = projectIds ?? []
  return others.length > 0 ? null : projectId
}

export const reaches = ({ projectIds }: Reach, projectId: string | null): boolean =>
  projectIds === null || (projectId !== null && projectIds.includes(projectId))

/** Whether a row is in a project of the reach; no condition if that is all. */
export function isReached(column: AnyColumn, reach: Reach): SQL | undefined {
  const projectId = onlyProjectOf(reach)
  if (projectId !== null) return eq(column, projectId)
  return reach.projectIds === null ? undefined : isAmong(column, reach.projectIds)
}

/** The same in a prepared statement, where the IDs may be null. */
export const isReachedBy = (column: AnyColumn | SQL, projectIds: Placeholder): SQL =>
  sql`(${projectIds}::uuid[] is null or ${column} = any(${projectIds}::uuid[]))`

/** Whether a row is in one of these projects: their IDs, or an array of SQL. */
export const isAmong = (column: AnyColumn | SQL, projectIds: readonly string[] | SQL): SQL =>
  sql`${column} = any(${isList(projectIds) ? sql`${sql.param(projectIds)}::uuid[]` : projectIds})`

const isList = (projectIds: readonly string[] | SQL): projectIds is readonly string[] =>
  Array.isArray(projectIds)
