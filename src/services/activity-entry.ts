import type { ActorRef } from '../domain/new-task.ts'
import type { ActivityRow } from '../repositories/activity.ts'
import type { Caller } from './access.ts'
import type { Clock } from './clock.ts'

interface About {
  taskId?: string | null
  projectId?: string | null
  message?: string | null
  metadata?: Record<string, unknown>
}

/** One line of the record: what somebody did. */
export function entry(
  clock: Pick<Clock, 'newId'>,
  at: Date,
  type: string,
  by: ActorRef,
  { taskId = null, projectId = null, message = null, metadata = {} }: About,
): ActivityRow {
  return {
    id: clock.newId(at),
    type,
    message,
    taskId,
    projectId,
    actorType: by.type,
    actorId: by.id,
    actorName: by.name,
    metadata,
    createdAt: at,
  }
}

/** The record names the key, also where a session of it was used: sessions come and go. */
export const actorOf = ({ type, keyId, name }: Pick<Caller, 'type' | 'keyId' | 'name'>): ActorRef => ({
  type,
  id: keyId,
  name,
})
