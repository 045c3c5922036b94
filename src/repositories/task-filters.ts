import { and, eq, gt, gte, inArray, isNotNull, isNull, or, type SQL, sql } from '../db/drizzle.ts'
import { tasks } from '../db/tables/tasks.ts'
import type { Executor } from './index.ts'
import { countOpenTasks, listsIn } from './lists.ts'
import { isWithin } from './ordered-by-index.ts'
import { onlyProjectOf, type Reach } from './reach.ts'
import { isRare, MAX_RARE } from './task-names.ts'
import type { TaskPlace } from './task-page-conditions.ts'
import type { TaskPageRequest } from './task-pages.ts'
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
  isTriaged?: boolean | undefined
  isSnoozed?: boolean | undefined
  hasQuestion?: boolean | undefined
}

/** Has any of these names, ignoring case, or none at all. */
export interface NameFilter {
  names: string[]
  orNone: boolean
}

interface FilterRequest extends Reach {
  place: TaskFilter
  sortBy: TaskPageRequest['sortBy']
}

/** What a filter asks of a task, but for its place and words. */
export interface FilterConditions {
  /** The ids of all that can match, and of few others, where an index finds them. */
  found?: SQL | undefined
  /** What the index of the page's order has: the rows before or after are not read. */
  indexed?: SQL | undefined
  /** What each task has to meet; undefined if nothing. */
  others: SQL | undefined
}

/**
 * The conditions of a filter. Where an index finds a few tasks, these are read, else those of the place in their order,
 * until there are enough. Counts decide this: the planner may have no statistics, or outdated ones.
 */
export async function conditionOf(
  db: Executor,
  { projectIds, place: filter, sortBy }: FilterRequest,
): Promise<FilterConditions> {
  const { createdSince, openedSince, updatedSince, labels, assignees, statuses, isReady } = filter
  const others = and(
    labels && hasName('labels', labels),
    assignees && hasName('assignees', assignees),
    statuses && inArray(tasks.status, statuses),
    filter.sources && inArray(tasks.source, filter.sources),
    filter.priorities && inArray(tasks.priority, filter.priorities),
    filter.externalIds && inArray(tasks.externalId, filter.externalIds),
    filter.codehostKind ? eq(tasks.codehostKind, filter.codehostKind) : undefined,
    ...numbersIn(filter),
    isReady === undefined ? undefined : hasReadiness(isReady),
    createdSince && gte(tasks.createdAt, createdSince.time),
    openedSince && gte(tasks.openedAt, openedSince),
    updatedSince && gte(tasks.updatedAt, updatedSince),
    filter.isClaimed === undefined ? undefined : isClaimed(filter.isClaimed),
    filter.isTriaged === undefined ? undefined : filter.isTriaged ? IS_TRIAGED : IS_TO_TRIAGE,
    filter.isSnoozed === undefined ? undefined : (filter.isSnoozed ? isNotNull : isNull)(tasks.snoozedUntil),
    filter.hasQuestion === undefined ? undefined : (filter.hasQuestion ? isNotNull : isNull)(tasks.question),
  )
  const isInTrashOrder = filter.deletedSince === undefined || sortBy === 'deleted'
  if (!others && isInTrashOrder) return { others }
  const found = findByValue(filter) ?? (await findFew(db, { projectIds, place: filter, sortBy }))
  return found ? { found, others } : { indexed: inIndex(filter, sortBy), others }
}

/** By values that hardly two tasks share. */
function findByValue(filter: TaskFilter): SQL | undefined {
  const { externalIds, deletedSince } = filter
  const [number] = numbersIn(filter)
  if (number) return sql`select id from ${tasks} where ${number}`
  // The index has no deleted tasks, and the trash is small.
  if (!externalIds || deletedSince) return undefined
  const condition = and(inArray(tasks.externalId, externalIds), isNotNull(tasks.externalId), NOT_DELETED)
  return sql`select id from ${tasks} where ${condition}`
}

/** The condition of the index is part of it. */
const numbersIn = ({ codehostNumbers = [], ...filter }: TaskFilter) => [
  ...(filter.codehostIssueNumber ? [hasNumber(filter.codehostIssueNumber, 'issue')] : []),
  ...(filter.codehostPrNumber ? [hasNumber(filter.codehostPrNumber, 'pull_request')] : []),
  ...codehostNumbers.map((number) => hasNumber(number)),
]
const hasNumber = (number: number, kind?: 'issue' | 'pull_request') =>
  and(
    isNotNull(tasks.codehostNumber),
    eq(tasks.codehostNumber, number),
    kind && eq(tasks.codehostKind, kind),
  ) ?? sql`true`

/** By names, statuses, claims, or times, as far as few tasks have them. */
async function findFew(
  db: Executor,
  { projectIds, place: filter, sortBy }: FilterRequest,
): Promise<SQL | undefined> {
  const { createdSince, openedSince, updatedSince, deletedSince, labels, assignees, projectId, listId } =
    filter
  const isFew = async (rows: SQL) => {
    const beyond = await db.execute(
      sql`select from (${rows} limit ${sql.raw(String(MAX_RARE + 1))}) as beyond offset ${sql.raw(String(MAX_RARE))}`,
    )
    return beyond.rowCount === 0
  }
  // The order makes the planner read the index.
  if (createdSince && !ORDERED_BY_ID.has(sortBy)) {
    const rows = sql`select id from ${tasks} where ${gte(tasks.id, createdSince.firstId)} order by id desc`
    if (await isFew(rows)) return rows
  }
  if (filter.isTriaged === false && !deletedSince && !hasTriageOrder(filter, sortBy)) {
    const project = projectId ?? onlyProjectOf({ projectIds })
    const inProject = project === null ? undefined : isWithin(tasks.projectId, project)
    const place = project === null ? sql`` : sql`project_id desc, `
    const rows = sql`select id from ${tasks} where ${and(inProject, IS_TO_TRIAGE, NOT_DELETED)}
      order by ${place}id desc`
    if (await isFew(rows)) return rows
  }
  if (deletedSince) {
    // A list alone says nothing of its project, whose trash has an index.
    const project = projectId ?? onlyProjectOf({ projectIds })
    const inProject = project === null ? undefined : isWithin(tasks.projectId, project)
    const place = project === null ? sql`` : sql`project_id desc, `
    const rows = sql`select id from ${tasks} where ${and(inProject, gt(tasks.deletedAt, deletedSince))}
      order by ${place}deleted_at desc, id desc`
    return sortBy !== 'deleted' && (await isFew(rows)) ? rows : undefined
  }
  for (const [kind, name] of [
    ['labels', labels],
    ['assignees', assignees],
  ] as const) {
    if (!name || name.orNone || !(await isRare(db, { kind, ...name }))) continue
    return sql`select id from ${tasks} where ${and(hasName(kind, name), NOT_DELETED)}`
  }
  // Most tasks of an old project are done, and what is not may be at the end of any order.
  const statuses = filter.statuses ?? (filter.isReady ? UNFINISHED : [])
  const areOpen = statuses.length > 0 && !statuses.includes('done')
  const lists = { projectIds: projectId === undefined ? projectIds : [projectId], listId }
  if (areOpen && !inIndex(filter, sortBy) && (await countOpenTasks(db, lists)) <= MAX_RARE) {
    // Each list by itself, in the order of its index: without statistics, that of all open tasks seems as good.
    const isOpen = and(inArray(tasks.status, [...statuses]), NOT_DELETED)
    return sql`select open.id from (${listsIn(lists)}) as places cross join lateral (
      select id from ${tasks} where list_id >= places.id and list_id <= places.id and ${isOpen}
      order by list_id, status, id limit ${sql.raw(String(2 * MAX_RARE))}
    ) as open`
  }
  for (const [isGiven, column, condition] of [
    [filter.hasQuestion, tasks.id, isNotNull(tasks.question)],
    [filter.isSnoozed, tasks.snoozedUntil, isNotNull(tasks.snoozedUntil)],
    [filter.isClaimed, tasks.claimExpiresAt, filter.isClaimed && isClaimed(true)],
    [
      updatedSince && sortBy !== 'updated',
      tasks.updatedAt,
      updatedSince && isSince(tasks.updatedAt, updatedSince),
    ],
    [openedSince && sortBy !== 'opened', tasks.openedAt, openedSince && isSince(tasks.openedAt, openedSince)],
  ] as const) {
    const rows = isGiven && sql`select id from ${tasks} where ${condition} order by ${column} desc`
    if (rows && (await isFew(rows))) return rows
  }
  return undefined
}

const UNFINISHED: TaskRow['status'][] = ['open', 'in_progress']
const NOT_DELETED = isNull(tasks.deletedAt)
/** As the indexes of tasks to triage have it. */
const IS_TO_TRIAGE = sql`not ${tasks.triaged} and ${tasks.status} <> 'done'`
const IS_TRIAGED = sql`(${tasks.triaged} or ${tasks.status} = 'done')`
const isSince = (column: typeof tasks.updatedAt | typeof tasks.openedAt, time: Date) =>
  and(gte(column, time), NOT_DELETED)

/** Ids are in order of creation: they have an index, the times do not. */
const ORDERED_BY_ID: ReadonlySet<TaskPageRequest['sortBy']> = new Set(['created', 'reports'])

/** Whether what is to be triaged has an index in the order of the page. */
const hasTriageOrder = (filter: TaskFilter, sortBy: TaskPageRequest['sortBy']): boolean =>
  filter.isTriaged === false && !filter.deletedSince && filter.listId === undefined && sortBy === 'created'

/** What the index of an order has of a filter. */
function inIndex(filter: TaskFilter, sortBy: TaskPageRequest['sortBy']): SQL | undefined {
  const { createdSince, openedSince, updatedSince, deletedSince, statuses = [], listId } = filter
  const [status, another] = statuses
  const hasStatus = listId !== undefined && sortBy === 'created' && !deletedSince && another === undefined
  return and(
    hasTriageOrder(filter, sortBy) ? and(IS_TO_TRIAGE, NOT_DELETED) : undefined,
    createdSince && ORDERED_BY_ID.has(sortBy) ? gte(tasks.id, createdSince.firstId) : undefined,
    openedSince && sortBy === 'opened' ? gte(tasks.openedAt, openedSince) : undefined,
    updatedSince && sortBy === 'updated' ? gte(tasks.updatedAt, updatedSince) : undefined,
    status && hasStatus ? and(eq(tasks.status, status), NOT_DELETED) : undefined,
  )
}

/** The status is part of it by itself, for the index on (list, status). */
const hasReadiness = (isReady: boolean) =>
  isReady ? and(inArray(tasks.status, UNFINISHED), sql.raw(IS_READY)) : sql.raw(`not ${IS_READY}`)

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
