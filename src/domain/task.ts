import type { ActorType, Task } from '../schemas/task.ts'
import type { ShownField } from './task-fields.ts'

/** A task as it is stored, with the fields of `TASK_FIELDS`; nothing here depends on how. */
export interface StoredTask extends Pick<Task, ShownField> {
  /** A rank: 1 low, 2 medium, 3 high. */
  priority: number
  codehostRepositoryId: number | null
  codehostNumber: number | null
  codehostKind: 'issue' | 'pull_request' | null
  codehostState: 'open' | 'closed' | null
  closedReason: Task['closedReason']
  authorName: string | null
  authorUrl: string | null
  hostUpdatedAt: Date | null
  createdByType: ActorType
  createdById: string | null
  createdByName: string
  createdAt: Date
  openedAt: Date
  updatedAt: Date
  completedAt: Date | null
  deletedAt: Date | null
  statusBeforeMerge: Task['status'] | null
  /** The tasks that are merged into it. */
  reportCount: number
  /** Whether somebody has decided about it. Of a task that is done, what holds once it is reopened or unmerged. */
  triaged: boolean
  snoozedUntil: Date | null
  /** Of the last claim. */
  claimNumber: number
  /** Null if the task is not claimed, and once the lease is over: the other members stay until the task is opened. */
  claimExpiresAt: Date | null
  claimedByType: ActorType | null
  claimedById: string | null
  claimedByName: string | null
}

/** The values that a change writes. */
export type TaskUpdate = Partial<StoredTask> & Pick<StoredTask, 'updatedAt' | 'version'>

/** The list that a task is created in or moved to. */
export interface Destination {
  listId: string
  projectId: string
}

/** The list that a task is created in. */
export interface CreationPlace extends Destination {
  /** Whether tasks that arrive in its project are to be triaged. */
  isTriageOn: boolean
}
