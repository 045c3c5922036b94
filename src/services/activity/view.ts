import type { ActivityRow } from '../../repositories/activity.ts'
import type { Activity } from '../../schemas/activity.ts'

/** Converts a row to its API type. */
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

/** Cast: the schemas accept only objects, so the column contains only objects. */
const asObject = (json: unknown) => json as Record<string, unknown>
