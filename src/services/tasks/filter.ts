import { firstIdOf } from '../../domain/id-time.ts'
import { rankOf } from '../../domain/priority.ts'
import { searchTermsOf } from '../../domain/search-terms.ts'
import { TRASH_RETENTION_MS } from '../../domain/trash.ts'
import { personRequiredForMe } from '../../errors/index.ts'
import { composed } from '../../lib/distinct-ignoring-case.ts'
import type { NameFilter, TaskFilter } from '../../repositories/task-filters.ts'
import type { TaskQuery } from '../../schemas/task-query.ts'
import type { Caller } from '../access.ts'

/**
 * The filter of a query.
 * @throws person_required for the assignee `@me` of a caller who is no person
 */
export function filterOf(query: TaskQuery, { caller, now }: { caller: Caller; now: Date }): TaskFilter {
  const { words, codehostNumbers } = searchTermsOf(query.q ?? '')
  const createdSince = timeOf(query.createdSince)
  return {
    projectId: query.projectId,
    listId: query.listId,
    statuses: query.status,
    sources: query.source,
    priorities: query.priority?.map(rankOf),
    labels: query.label && namesOf(query.label),
    assignees: query.assignee && namesOf(query.assignee.map((name) => assigneeOf(name, caller))),
    externalIds: query.externalId,
    codehostKind: query.kind,
    codehostIssueNumber: query.codehostIssueNumber,
    codehostPrNumber: query.codehostPrNumber,
    codehostNumbers,
    words,
    isReady: query.isReady,
    createdSince: createdSince && { time: createdSince, firstId: firstIdOf(createdSince) },
    openedSince: timeOf(query.openedSince),
    updatedSince: timeOf(query.updatedSince),
    skipsArchived: !query.includeArchived,
    isClaimed: query.claimed,
    isTriaged: query.triaged,
    isSnoozed: query.snoozed,
    hasQuestion: query.needsAnswer,
    deletedSince: query.deleted ? new Date(now.getTime() - TRASH_RETENTION_MS) : undefined,
  }
}

/** The value that stands for tasks without a name. */
const NONE = 'none'

/** The value that stands for the person who asks. */
const ME = '@me'

function assigneeOf(name: string, { user }: Caller): string {
  if (name !== ME) return name
  if (!user) throw personRequiredForMe()
  return user.username
}

const namesOf = (values: string[]): NameFilter => ({
  names: values.filter((value) => value !== NONE).map(composed),
  orNone: values.includes(NONE),
})

const timeOf = (time: string | undefined) => (time === undefined ? undefined : new Date(time))
