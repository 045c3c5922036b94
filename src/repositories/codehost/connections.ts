import { and, asc, desc, eq, gt, inArray, ne } from '../../db/drizzle.ts'
import { codehostConnections, syncRuns } from '../../db/tables/codehost.ts'
import type { TaskConnection } from '../../domain/codehost/write-back.ts'
import type { Executor } from '../index.ts'
import { isReached, type Reach } from '../reach.ts'
import type { SyncRunRow } from './sync-runs.ts'

export type ConnectionRow = typeof codehostConnections.$inferSelect
/** A connection with its latest run. */
export type ConnectionWithRun = ConnectionRow & { lastRun: SyncRunRow | null }

/** The connected repositories of projects, within a reach. */
export function codehostRepository(db: Executor, reach: Reach) {
  const inReach = isReached(codehostConnections.projectId, reach)
  const isOf = (projectId: string) => and(eq(codehostConnections.projectId, projectId), inReach)

  return {
    async insert(row: ConnectionRow): Promise<void> {
      await db.insert(codehostConnections).values(row)
    },

    async find(projectId: string): Promise<ConnectionRow | undefined> {
      const [row] = await db.select().from(codehostConnections).where(isOf(projectId))
      return row
    },

    /** Locks it until the transaction ends, without delaying deliveries, which refer to it. */
    async findForUpdate(projectId: string): Promise<ConnectionRow | undefined> {
      const [row] = await db.select().from(codehostConnections).where(isOf(projectId)).for('no key update')
      return row
    },

    /** Oldest first. */
    async list({ after, limit }: { after: string | undefined; limit: number }): Promise<ConnectionRow[]> {
      return db
        .select()
        .from(codehostConnections)
        .where(and(inReach, after === undefined ? undefined : gt(codehostConnections.id, after)))
        .orderBy(asc(codehostConnections.id))
        .limit(limit)
    },

    /** What changes of tasks need of the connections of these projects, by project. */
    async connectionsOf(projectIds: string[]): Promise<Map<string, TaskConnection>> {
      if (projectIds.length === 0) return new Map()
      const { id, projectId, repositoryId, writeBack } = codehostConnections
      const rows = await db
        .select({ id, projectId, repositoryId, writeBack })
        .from(codehostConnections)
        .where(and(inArray(projectId, projectIds), inReach))
      return new Map(rows.map(({ projectId, ...connection }) => [projectId, connection]))
    },

    /** Those that write changes to the code host. */
    async listWritingBack(): Promise<ConnectionRow[]> {
      return db
        .select()
        .from(codehostConnections)
        .where(and(ne(codehostConnections.writeBack, 'off'), inReach))
        .orderBy(codehostConnections.id)
    },

    /** The connections of many projects, each with its latest run, in one query. */
    async listWithRuns(projectIds: string[]): Promise<ConnectionWithRun[]> {
      if (projectIds.length === 0) return []
      const latest = db
        .select()
        .from(syncRuns)
        .where(
          and(
            eq(syncRuns.projectId, codehostConnections.projectId),
            eq(syncRuns.connectionId, codehostConnections.id),
          ),
        )
        .orderBy(desc(syncRuns.id))
        .limit(1)
        .as('latest')
      const rows = await db
        .select()
        .from(codehostConnections)
        .leftJoinLateral(latest, eq(latest.connectionId, codehostConnections.id))
        .where(and(inArray(codehostConnections.projectId, projectIds), inReach))
      return rows.map(({ codehost_connections, latest }) => ({ ...codehost_connections, lastRun: latest }))
    },

    async update(id: string, change: Partial<ConnectionRow>): Promise<void> {
      await db
        .update(codehostConnections)
        .set(change)
        .where(and(eq(codehostConnections.id, id), inReach))
    },

    /** Changes the list of connections that use this one. */
    async moveList(fromId: string, toId: string): Promise<void> {
      await db
        .update(codehostConnections)
        .set({ listId: toId })
        .where(and(eq(codehostConnections.listId, fromId), inReach))
    },

    async delete(projectId: string): Promise<void> {
      await db.delete(codehostConnections).where(isOf(projectId))
    },
  }
}
