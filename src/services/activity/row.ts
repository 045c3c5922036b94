import type { ActorRef } from '../../domain/new-task.ts'
import type { Clock } from '../../lib/clock.ts'
import type { ActivityRow } from '../../repositories/activity.ts'
import type { BoundRepositories } from '../../repositories/index.ts'
import type { UserRow } from '../../repositories/people/users.ts'
import type { Caller } from '../access.ts'

/** The actor of what Inlet does by itself. */
export const SERVICE: ActorRef = { type: 'system', id: null, name: 'Inlet' }

interface NewActivityRow {
  now: Date
  type: string
  actor: ActorRef
  taskId?: string | null
  projectId?: string | null
  message?: string | null
  metadata?: object
}

/** Builds a row of the activity log. */
export function activityRow(
  clock: Pick<Clock, 'newId'>,
  { now, type, actor, taskId = null, projectId = null, message = null, metadata = {} }: NewActivityRow,
): ActivityRow {
  return {
    id: clock.newId(now),
    type,
    message,
    taskId,
    projectId,
    actorType: actor.type,
    actorId: actor.id,
    actorName: actor.name,
    metadata,
    createdAt: now,
  }
}

/** Returns a function that logs what a caller changed, in the transaction of the change. */
export function changeLog(clock: Pick<Clock, 'newId'>) {
  return (
    repos: Pick<BoundRepositories, 'activity'>,
    { caller, ...row }: Omit<NewActivityRow, 'actor'> & { caller: Caller },
  ): Promise<void> => repos.activity.insert([activityRow(clock, { ...row, actor: actorOf(caller) })])
}

/** The actor that a person is. */
export const actorOfUser = ({ id, name }: Pick<UserRow, 'id' | 'name'>): ActorRef => ({
  type: 'user',
  id,
  name,
})

/** The type of a key as an actor. */
const TYPE_OF_CHANNEL = { api: 'key', dashboard: 'session', assistant: 'assistant' } as const

export const actorOf = ({
  channel,
  principal,
  name,
}: Pick<Caller, 'channel' | 'principal' | 'name'>): ActorRef => ({
  type: principal.type === 'user' ? 'user' : TYPE_OF_CHANNEL[channel],
  id: principal.id,
  name,
})
