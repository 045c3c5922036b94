import type { ActivityRow } from '../../repositories/activity.ts'
import type { Activity } from '../../schemas/activity.ts'

/** A row as the wire has it. */
export const toActivity = (row: ActivityRow): Activity => ({
  id: row.id,
  type: row.type,
  message: row.message,
  taskId: row.taskId,
  projectId: row.projectId,
  actor: { type: row.actorType, id: row.actorId, name: row.actorName },
  metadata: asObject(row.metadata),
  createdAt: row.createdAt.toISOString(),
})

/** The column holds only what the schemas let in, and they let in objects. */
const asObject = (json: unknown) => json as Record<string, unknown>
