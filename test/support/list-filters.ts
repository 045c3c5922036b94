import type { TaskQuery } from '../../src/schemas/task-query.ts'

/** A project with two lists, another project, and a time. */
interface FilteredPlace {
  id: string
  otherId: string
  inbox: { id: string }
  list: { id: string }
  start: string
}

/** Each filter that there is, alone and in a project, and places. */
export function filtersOf({ id: projectId, otherId, inbox, list, start }: FilteredPlace): TaskQuery[] {
  const narrow: TaskQuery[] = [
    {},
    ...(['open', 'in_progress', 'done'] as const).map((status) => ({ status: [status] })),
    { status: ['open', 'in_progress'] },
    { priority: ['high'] },
    { label: ['bug'] },
    { label: ['none'] },
    { assignee: ['ann'] },
    { externalId: ['x-1'] },
    { source: ['api'] },
    { kind: 'issue' },
    { codehostIssueNumber: 1 },
    { codehostPrNumber: 2 },
    { createdSince: start },
    { updatedSince: start },
    { openedSince: start },
    { isReady: true },
    { isReady: false },
    { claimed: true },
    { claimed: false },
    { triaged: true },
    { triaged: false },
    { snoozed: true },
    { snoozed: false },
    { needsAnswer: true },
    { needsAnswer: false },
    { q: 'zebra' },
  ]
  const places: TaskQuery[] = [
    { projectId },
    { projectId: otherId },
    { listId: inbox.id },
    { listId: list.id },
  ]
  return [
    ...narrow,
    ...places,
    { includeArchived: true },
    { includeArchived: true, isReady: true },
    ...narrow.map((filters) => ({ ...filters, projectId })),
  ]
}
