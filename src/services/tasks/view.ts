import { claimOf, currentStatus } from '../../domain/claim.ts'
import { allows } from '../../domain/key-strength.ts'
import { priorityOf } from '../../domain/priority.ts'
import { isDescriptionReadOnly } from '../../domain/task-change.ts'
import { LONG_FIELDS, SHOWN_FIELDS, type ShownField } from '../../domain/task-fields.ts'
import { isTriaged } from '../../domain/triage.ts'
import type { BoundRepositories } from '../../repositories/index.ts'
import type { TaskRow } from '../../repositories/tasks.ts'
import type { Task, WrittenTask, WrittenTaskSummary } from '../../schemas/task.ts'
import type { Caller } from '../access.ts'

/** What other rows say about a task. */
export interface TaskFacts {
  /** Whether a task that it is blocked by still has to be done. */
  isBlocked: boolean
}

/**
 * Converts the row that a write has locked and changed: the response needs no second read. It must equal the JSON that
 * reads make in SQL, which a test compares.
 */
export function toTask(row: TaskRow, { isBlocked }: TaskFacts): Task {
  const isPullRequest = row.codehostKind === 'pull_request'
  return {
    ...shownOf(row),
    descriptionReadOnly: isDescriptionReadOnly(row.source),
    priority: priorityOf(row.priority),
    codehostIssueNumber: isPullRequest ? null : row.codehostNumber,
    codehostPrNumber: isPullRequest ? row.codehostNumber : null,
    closedReason: row.mergedInto === null ? row.closedReason : 'duplicate',
    reports: row.reportCount + 1,
    // Tasks of archived projects are not written.
    isReady:
      currentStatus(row) === 'open' &&
      row.deletedAt === null &&
      row.snoozedUntil === null &&
      row.question === null &&
      !isBlocked,
    triaged: isTriaged(row),
    snoozedUntil: row.snoozedUntil?.toISOString() ?? null,
    claim: claimOf(row),
    author: row.authorName === null ? null : { name: row.authorName, url: row.authorUrl },
    createdBy: { type: row.createdByType, id: row.createdById, name: row.createdByName },
    createdAt: row.createdAt.toISOString(),
    openedAt: row.openedAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
    completedAt: row.completedAt?.toISOString() ?? null,
  }
}

/** A loop: entries take five times as long. Cast: it has the fields that the type names. */
function shownOf(row: TaskRow): Pick<TaskRow, ShownField> {
  const shown: Record<string, unknown> = {}
  for (const name of SHOWN_FIELDS) shown[name] = row[name]
  return shown as Pick<TaskRow, ShownField>
}

export const mayReadTasks = ({ scopes }: Pick<Caller, 'scopes'>) => allows(scopes, 'tasks:read')

/** What a caller without `tasks:read` receives after a write. */
export const onlyVersion = ({ id, version }: WrittenTask): WrittenTask => ({ id, version })

/**
 * A task as a write leaves it, read in its transaction: locked ones lack long texts, and some fields follow from other rows.
 */
export async function writtenTask({ tasks }: Pick<BoundRepositories, 'tasks'>, id: string): Promise<Task> {
  const task = await tasks.findJson(id)
  if (!task) throw new Error(`Task ${id} is locked, and missing.`)
  return JSON.parse(task.json) as Task
}

/** A task as a write returns it. */
export const writtenFor = (caller: Pick<Caller, 'scopes'>, task: Task): WrittenTask =>
  mayReadTasks(caller) ? task : onlyVersion(task)

/** The same for a write of many. The long fields are undefined: to copy the others one by one takes ten times as long. */
export const summaryOf = (task: WrittenTask): WrittenTaskSummary => ({ ...task, ...NO_LONG_FIELDS })

const NO_LONG_FIELDS = Object.fromEntries(LONG_FIELDS.map((name) => [name, undefined]))
