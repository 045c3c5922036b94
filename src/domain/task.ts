import type { ActorType, Task, TaskSource } from '../schemas/task.ts'

/** A task as it is stored; nothing here depends on how. */
export interface StoredTask {
  id: string
  title: string
  description: string | null
  status: Task['status']
  /** A rank: 1 low, 2 medium, 3 high. */
  priority: number
  source: TaskSource
  sourceId: string | null
  projectId: string
  listId: string
  externalId: string | null
  externalUrl: string | null
  labels: string[]
  assignees: string[]
  codehostRepositoryId: number | null
  codehostNumber: number | null
  codehostKind: 'issue' | 'pull_request' | null
  codehostState: 'open' | 'closed' | null
  closedReason: Task['closedReason']
  sourceState: Task['sourceState']
  authorName: string | null
  authorUrl: string | null
  isDraft: boolean | null
  hostUpdatedAt: Date | null
  notes: string | null
  metadata: unknown
  createdByType: ActorType
  createdById: string | null
  createdByName: string
  createdAt: Date
  openedAt: Date
  updatedAt: Date
  completedAt: Date | null
  deletedAt: Date | null
  version: number
  commentCount: number
  /** The task that this one is a report of. */
  mergedInto: string | null
  /** The tasks that have to be done before. */
  blockedBy: string[]
  statusBeforeMerge: Task['status'] | null
  /** The tasks that are merged into it. */
  reportCount: number
  /** Of feedback: the same for equal notes. */
  noteKey: string | null
  writeBack: Task['writeBack']
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
