import { distinctIgnoringCase } from '../lib/distinct-ignoring-case.ts'
import type { ActorType } from '../schemas/task.ts'
import type { NewTaskInBulk } from '../schemas/task-requests.ts'
import { distinctIds } from './dependencies.ts'
import { rankOf } from './priority.ts'
import type { CreationPlace, StoredTask } from './task.ts'
import { INSERTED_FIELDS, type InsertedField, NULLABLE_FIELDS, type NullableField } from './task-fields.ts'
import { arrivesIn, snoozeOf } from './triage.ts'

export interface ActorRef {
  type: ActorType
  id: string | null
  name: string
}

/** Where a task was created from. */
export type TaskOrigin = Pick<StoredTask, 'source' | 'sourceId'>

/** The origin of tasks that come by a way of which there is one. */
export const originIn = (source: StoredTask['source']): TaskOrigin => ({ source, sourceId: null })

interface Creation {
  id: string
  now: Date
  destination: CreationPlace
  actor: ActorRef
  origin: TaskOrigin
}

/** Builds a new task, with defaults for all omitted fields. */
export function newTask(input: NewTaskInBulk, { id, now, destination, actor, origin }: Creation): StoredTask {
  return {
    ...NOTHING,
    ...optionalOf(input),
    id,
    title: input.title,
    status: 'open',
    priority: rankOf(input.priority ?? 'medium'),
    ...origin,
    projectId: destination.projectId,
    listId: destination.listId,
    labels: distinctIgnoringCase(input.labels ?? []),
    assignees: distinctIgnoringCase(input.assignees ?? []),
    blockedBy: distinctIds(input.blockedBy ?? []),
    sourceState: 'present',
    commentCount: 0,
    reportCount: 0,
    triaged: destination.isTriageOn ? (input.triaged ?? !arrivesIn(origin.source)) : true,
    snoozedUntil: snoozeOf(input),
    metadata: input.metadata ?? {},
    createdByType: actor.type,
    createdById: actor.id,
    createdByName: actor.name,
    createdAt: now,
    openedAt: now,
    updatedAt: now,
    version: 1,
    claimNumber: 0,
  }
}

/** Cast: all are null. */
const NOTHING = Object.fromEntries(NULLABLE_FIELDS.map((name) => [name, null])) as Record<NullableField, null>

type OptionalField = NullableField & InsertedField & keyof NewTaskInBulk
const OPTIONAL = NULLABLE_FIELDS.filter((name): name is OptionalField =>
  (INSERTED_FIELDS as string[]).includes(name),
)

/** Cast: it has the fields that a request may have, and null where the request has none. */
function optionalOf(input: NewTaskInBulk): Pick<StoredTask, OptionalField> {
  const optional: Record<string, unknown> = {}
  for (const name of OPTIONAL) optional[name] = input[name] ?? null
  return optional as Pick<StoredTask, OptionalField>
}

/** The same order everywhere: statements that share external ids wait for each other instead of deadlocking. */
export const byExternalId = (a: Pick<NewTaskInBulk, 'externalId'>, b: Pick<NewTaskInBulk, 'externalId'>) => {
  const [first, second] = [a.externalId ?? '', b.externalId ?? '']
  return first === second ? 0 : first < second ? -1 : 1
}
