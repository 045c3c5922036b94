import type { Task } from '../schemas/task.ts'
import type { NewTask, TaskChange } from '../schemas/task-requests.ts'

/** What is done with a field of a task. Nothing else knows a list of them. */
interface TaskField {
  /** The API returns it as it is stored. `toTask` and `task-json.ts` say what is made of the others. */
  shown?: true
  /** It differs between new tasks. The others have the default of their column, or the value in `new-tasks.ts`. */
  inserted?: true
  /** A change can write it. */
  edited?: true
  /** Null in a new task, unless the request has it. */
  nullable?: true
  /** Read, sent, and logged only where it is needed. */
  long?: true
  /** Of a synced task, it belongs to the code host. */
  managed?: true
}

/**
 * The fields of a stored task, each once. Inserts, changes, activities, rows, JSON, and CSV derive from this table. The
 * types of columns are in `db/tables/tasks.ts`; what the API returns and accepts, and with it the AI tools and the limits
 * of an import, is in `schemas/`.
 */
const TASK_FIELDS = {
  id: { shown: true, inserted: true },
  title: { shown: true, inserted: true, edited: true, managed: true },
  description: { shown: true, inserted: true, edited: true, nullable: true, long: true },
  status: { shown: true, edited: true },
  priority: { inserted: true, edited: true },
  source: { shown: true, inserted: true },
  sourceId: { shown: true, nullable: true },
  projectId: { shown: true, inserted: true, edited: true, managed: true },
  listId: { shown: true, inserted: true, edited: true },
  externalId: { shown: true, inserted: true, nullable: true },
  externalUrl: { shown: true, inserted: true, edited: true, nullable: true, managed: true },
  labels: { shown: true, inserted: true, edited: true, managed: true },
  assignees: { shown: true, inserted: true, edited: true, managed: true },
  blockedBy: { shown: true, inserted: true, edited: true },
  closedReason: { edited: true, nullable: true },
  sourceState: { shown: true },
  triaged: { inserted: true, edited: true },
  snoozedUntil: { inserted: true, edited: true, nullable: true },
  question: { shown: true, edited: true, nullable: true },
  commentCount: { shown: true },
  mergedInto: { shown: true, nullable: true },
  statusBeforeMerge: { nullable: true },
  reportCount: {},
  writeBack: { shown: true, nullable: true },
  isDraft: { shown: true, nullable: true },
  version: { shown: true, edited: true },
  notes: { shown: true, edited: true, nullable: true, long: true },
  metadata: { shown: true, inserted: true, edited: true, long: true },
  codehostRepositoryId: { nullable: true },
  codehostNumber: { nullable: true },
  codehostKind: { nullable: true },
  codehostState: { nullable: true },
  authorName: { nullable: true },
  authorUrl: { nullable: true },
  hostUpdatedAt: { nullable: true },
  noteKey: { shown: true, nullable: true },
  createdByType: { inserted: true },
  createdById: { inserted: true },
  createdByName: { inserted: true },
  createdAt: { inserted: true },
  openedAt: {},
  updatedAt: { edited: true },
  completedAt: { edited: true, nullable: true },
  deletedAt: { nullable: true },
  claimNumber: {},
  claimExpiresAt: { nullable: true },
  claimedByType: { nullable: true },
  claimedById: { nullable: true },
  claimedByName: { nullable: true },
} as const satisfies Record<string, TaskField> &
  Record<keyof TaskChange, TaskField & { edited: true }> &
  Record<keyof NewTask, TaskField & { inserted: true }>

type Fields = typeof TASK_FIELDS
export type FieldName = keyof Fields
type FieldWith<Trait extends keyof TaskField> = {
  [Name in FieldName]: Fields[Name] extends Record<Trait, true> ? Name : never
}[FieldName]

/** Cast: these are the names that the type selects. */
const fieldsWith = <Trait extends keyof TaskField>(trait: Trait) =>
  Object.keys(TASK_FIELDS).filter(
    (name) => (TASK_FIELDS as Record<string, TaskField>)[name]?.[trait],
  ) as FieldWith<Trait>[]

export const SHOWN_FIELDS = fieldsWith('shown')
export const INSERTED_FIELDS = fieldsWith('inserted')
export const EDITED_FIELDS = fieldsWith('edited')
export const NULLABLE_FIELDS = fieldsWith('nullable')
export const LONG_FIELDS = fieldsWith('long')
export const MANAGED_FIELDS: readonly string[] = fieldsWith('managed')

export type ShownField = FieldWith<'shown'>
/** What the API makes of other fields than the one of that name. */
export type ConvertedField = Exclude<keyof Task, ShownField>
export type InsertedField = FieldWith<'inserted'>
export type NullableField = FieldWith<'nullable'>

const LONG: readonly string[] = LONG_FIELDS
export const isLong = (name: string): boolean => LONG.includes(name)
