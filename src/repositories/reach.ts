import { type AnyColumn, eq, type SQL } from '../db/drizzle.ts'

/** What a caller can see: one project or all. Part of every query, so that no route can omit it. */
export interface Reach {
  projectId: string | null
}

export const everywhere: Reach = { projectId: null }

/** Whether a row is in a project of the reach; no condition if that is any. */
export const isReached = (column: AnyColumn, { projectId }: Reach): SQL | undefined =>
  projectId === null ? undefined : eq(column, projectId)
