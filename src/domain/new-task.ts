import { distinctIgnoringCase } from '../lib/distinct-ignoring-case.ts'
import type { ActorType, TaskSource } from '../schemas/task.ts'
import type { NewTaskInBulk } from '../schemas/task-requests.ts'
import { NO_CLAIM } from './claim.ts'
import { distinctIds } from './dependencies.ts'
import { rankOf } from './priority.ts'
import type { Destination, StoredTask } from './task.ts'

export interface ActorRef {
  type: ActorType
  id: string | null
  name: string
}

/** Where a task was created from. */
export type TaskOrigin = Pick<StoredTask, 'source' | 'sourceId'>

/** Builds a new task, with defaults for all omitted fields. */
export function newTask(
  input: NewTaskInBulk,
  {
    id,
    now,
    destination,
    actor,
    origin = { source: sourceOf(actor.type), sourceId: null },
  }: { id: string; now: Date; destination: Destination; actor: ActorRef; origin?: TaskOrigin },
): StoredTask {
  return {
    id,
    title: input.title,
    description: input.description ?? null,
    status: 'open',
    priority: rankOf(input.priority ?? 'medium'),
    ...origin,
    projectId: destination.projectId,
    listId: destination.listId,
    externalId: input.externalId ?? null,
    externalUrl: input.externalUrl ?? null,
    labels: distinctIgnoringCase(input.labels ?? []),
    assignees: distinctIgnoringCase(input.assignees ?? []),
    codehostRepositoryId: null,
    codehostNumber: null,
    codehostKind: null,
    codehostState: null,
    closedReason: null,
    writeBack: null,
    sourceState: 'present',
    authorName: null,
    authorUrl: null,
    isDraft: null,
    hostUpdatedAt: null,
    notes: null,
    metadata: input.metadata ?? {},
    createdByType: actor.type,
    createdById: actor.id,
    createdByName: actor.name,
    createdAt: now,
    openedAt: now,
    updatedAt: now,
    completedAt: null,
    deletedAt: null,
    version: 1,
    commentCount: 0,
    mergedInto: null,
    statusBeforeMerge: null,
    reportCount: 0,
    blockedBy: distinctIds(input.blockedBy ?? []),
    noteKey: null,
    claimNumber: 0,
    ...NO_CLAIM,
  }
}

const SOURCES: Record<ActorType, TaskSource> = {
  key: 'api',
  session: 'dashboard',
  assistant: 'assistant',
  analytics: 'analytics',
  codehost: 'codehost',
  system: 'api',
}

/** The source is derived from the actor, never from the request. */
export const sourceOf = (type: ActorType): TaskSource => SOURCES[type]

/** The same order everywhere: statements that share external ids wait for each other instead of deadlocking. */
export const byExternalId = (a: Pick<NewTaskInBulk, 'externalId'>, b: Pick<NewTaskInBulk, 'externalId'>) => {
  const [first, second] = [a.externalId ?? '', b.externalId ?? '']
  return first === second ? 0 : first < second ? -1 : 1
}
