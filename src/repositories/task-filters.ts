import { and, eq, gte, inArray, isNotNull, isNull, or, type SQL, sql } from '../db/drizzle.ts'
import { tasks } from '../db/tables/tasks.ts'
import type { Executor, Reach } from './index.ts'
import { countOpenTasks, listsIn } from './lists.ts'
import { tasksWith } from './task-names.ts'
import type { TaskPlace } from './task-page-conditions.ts'
import { IS_READY } from './task-readiness.ts'
import type { TaskRow } from './tasks.ts'

/** What narrows a place to some of its tasks. */
export interface TaskFilter extends TaskPlace {
  projectId?: string | undefined
  listId?: string | undefined
  statuses?: TaskRow['status'][] | undefined
  sources?: TaskRow['source'][] | undefined
  priorities?: number[] | undefined
  labels?: NameFilter | undefined
  assignees?: NameFilter | undefined
  externalIds?: string[] | undefined
  codehostKind?: TaskRow['codehostKind'] | undefined
  codehostIssueNumber?: number | undefined
  codehostPrNumber?: number | undefined
  /** Numbers of issues or pull requests, all of which the task has. */
  codehostNumbers?: number[] | undefined
  /** Words in the texts, all of which the task has. */
  words?: string[] | undefined
  isReady?: boolean | undefined
  createdSince?: { time: Date; firstId: string } | undefined
  openedSince?: Date | undefined
  updatedSince?: Date | undefined
  deletedSince?: Date | undefined
  isClaimed?: boolean | undefined
}

/** Has any of these names, ignoring case, or none at all. */
export interface NameFilter {
  names: string[]
  orNone: boolean
}

interface FilterRequest {
  reach: Reach
  filter: TaskFilter
  isByCreation: boolean
}

/** The conditions of a filter, but for its place and words; undefined if there are none. */
export async function conditionOf(
  db: Executor,
  { reach, filter, isByCreation }: FilterRequest,
): Promise<SQL | undefined> {
  const { createdSince, deletedSince, labels, assignees, listId } = filter
  const projectId = filter.projectId ?? reach.projectId
  /** Without statistics on a rare name, the planner may read all tasks in their order to find the few that have it. */
  async function named(kind: 'labels' | 'assignees', filter: NameFilter): Promise<SQL | undefined> {
    const condition = hasName(kind, filter)
    const isRare =
      !filter.orNone && !deletedSince && (await tasksWith(db, { kind, projectId, ...filter })) <= MAX_RARE
    return isRare
      ? sql`${tasks.id} = any(array(select id from ${tasks} where ${and(condition, isNull(tasks.deletedAt))}))`
      : condition
  }
  /** The same: most tasks of an old project are done, and what is not may be at the end of any order. */
  async function inStatus(statuses: TaskRow['status'][]): Promise<SQL> {
    const condition = inArray(tasks.status, statuses)
    const hasIndex = listId !== undefined && isByCreation
    if (hasIndex || deletedSince || statuses.includes('done')) return condition
    const place = { projectId, listId }
    if ((await countOpenTasks(db, place)) > MAX_RARE) return condition
    return sql`${tasks.id} = any(array(
      select id from ${tasks} where list_id = any(array(${listsIn(place)}))
        and ${and(condition, isNull(tasks.deletedAt))}))`
  }
  return and(
    labels && (await named('labels', labels)),
    assignees && (await named('assignees', assignees)),
    filter.statuses && (await inStatus(filter.statuses)),
    filter.sources && inArray(tasks.source, filter.sources),
    filter.priorities && inArray(tasks.priority, filter.priorities),
    filter.externalIds && and(isNotNull(tasks.externalId), inArray(tasks.externalId, filter.externalIds)),
    filter.codehostKind ? isOfCodehost({ kind: filter.codehostKind }) : undefined,
    filter.codehostIssueNumber
      ? isOfCodehost({ kind: 'issue', number: filter.codehostIssueNumber })
      : undefined,
    filter.codehostPrNumber
      ? isOfCodehost({ kind: 'pull_request', number: filter.codehostPrNumber })
      : undefined,
    ...(filter.codehostNumbers ?? []).map((number) => isOfCodehost({ number })),
    filter.isReady === undefined ? undefined : hasReadiness(filter.isReady),
    // Ids are in order of creation: they have an index, the times do not.
    createdSince && and(gte(tasks.id, createdSince.firstId), gte(tasks.createdAt, createdSince.time)),
    filter.openedSince && gte(tasks.openedAt, filter.openedSince),
    filter.updatedSince && gte(tasks.updatedAt, filter.updatedSince),
    filter.isClaimed === undefined ? undefined : isClaimed(filter.isClaimed),
  )
}

/** Reading so many in any order takes 10 ms. */
const MAX_RARE = 5_000

/** The status is part of it by itself, for the index on (list, status). */
const hasReadiness = (isReady: boolean) =>
  isReady
    ? and(inArray(tasks.status, ['open', 'in_progress']), sql.raw(IS_READY))
    : sql.raw(`not ${IS_READY}`)

/** The condition of an index is part of it. */
const isOfCodehost = ({ kind, number }: { kind?: 'issue' | 'pull_request'; number?: number }) =>
  and(
    isNotNull(tasks.codehostNumber),
    kind && eq(tasks.codehostKind, kind),
    number === undefined ? undefined : eq(tasks.codehostNumber, number),
  )

/** The time as a subquery, so that an index can be compared with it. */
const isClaimed = (is: boolean) =>
  is
    ? and(isNotNull(tasks.claimExpiresAt), sql`${tasks.claimExpiresAt} > (select clock_timestamp())`)
    : sql`(${tasks.claimExpiresAt} > (select clock_timestamp())) is not true`

/** As the indexes on names do. */
const hasName = (kind: 'labels' | 'assignees', { names, orNone }: NameFilter) =>
  or(
    orNone ? sql`${tasks[kind]} = '{}'` : undefined,
    names.length > 0
      ? sql`(${tasks[kind]} <> '{}' and lower_names(${tasks[kind]}) && lower_names(${sql.param(names)}::text[]))`
      : undefined,
  )
