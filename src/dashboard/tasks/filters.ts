import { MAX_QUERY, type Task, type TaskFilters } from '../api/queries.ts'
import { firstCharacters } from '../lib/first-characters.ts'
import { changedSearch, formatSearch, type Search } from '../navigation/search-params.ts'

export const STATUSES: Record<Task['status'], string> = {
  open: 'Open',
  in_progress: 'In progress',
  done: 'Done',
}
export const PRIORITIES: Record<Task['priority'], string> = { high: 'High', medium: 'Medium', low: 'Low' }
export const SOURCES: Record<Task['source'], string> = {
  api: 'API',
  codehost: 'Code host',
  analytics: 'Feedback',
  dashboard: 'Dashboard',
  assistant: 'Assistant',
  webhook: 'Other source',
}
export const SORTS: Record<NonNullable<TaskFilters['sort']>, string> = {
  '-openedAt': 'Newest first',
  openedAt: 'Oldest first',
  '-createdAt': 'Recently added',
  createdAt: 'Least recently added',
  '-updatedAt': 'Recently updated',
  updatedAt: 'Least recently updated',
  '-priority': 'Priority',
  '-reports': 'Most reported',
}

export const KINDS: Record<NonNullable<TaskFilters['kind']>, string> = {
  issue: 'Issues',
  pull_request: 'Pull requests',
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

export const NOT_DONE: Task['status'][] = ['open', 'in_progress']

/** What a person has to do. */
export const workOf = (username: string): TaskFilters => ({ status: NOT_DONE, assignee: [username] })

/** Whether a list has what somebody has to do, in any order. */
export const isWorkOf = (username: string | undefined, filters: TaskFilters) =>
  username !== undefined && isListOf(filters, workOf(username))

/** What people have to answer. */
export const QUESTIONS: TaskFilters = { needsAnswer: true }
export const isOfQuestions = (filters: TaskFilters) => isListOf(filters, QUESTIONS)

const isListOf = ({ sort, ...filters }: TaskFilters, other: TaskFilters) =>
  formatFilters(filters) === formatFilters(other)

/**
 * The filters in an address. Without any, the list has what is not done, and everything with `status=all`. An address with
 * other filters means what it says: no status, any status.
 */
export function filtersFrom(search: Record<string, unknown>): TaskFilters {
  const filters = validFilters(search)
  return search.status === 'all' || isFiltered(filters) ? filters : { ...filters, status: NOT_DONE }
}

/** The address of filters: the inverse of `filtersFrom`. */
export function searchOf(filters: TaskFilters): Search {
  const { status, ...others } = filters
  if (isFiltered(others)) return filters
  return isNotDone(status) ? others : { ...others, status: status ?? 'all' }
}

/** The same as text, with the question mark. */
export const formatFilters = (filters: TaskFilters): string => formatSearch(searchOf(filters))

/** The present search with these filters. */
export const searchWithFilters = (filters: TaskFilters): string =>
  changedSearch({ ...NO_FILTERS, ...searchOf(filters) })

/** Whether these are the filters of an address without any. */
export const isDefaultView = ({ status, ...others }: TaskFilters) => isNotDone(status) && !isFiltered(others)

export const isNotDone = (status: TaskFilters['status'] = []) =>
  !status.includes('done') && NOT_DONE.every((one) => status.includes(one))

/** Whether a task that somebody changes can leave a list. Those that are done stay until it is loaded again. */
export const canLeave = ({ sort, includeArchived, status, ...others }: TaskFilters) =>
  Object.keys(others).length > 0 || !(status === undefined || isNotDone(status))

/** The valid ones of some filters: users edit addresses and keep old ones. */
export const validFilters = (search: Record<string, unknown>): TaskFilters =>
  // No undefined values: query keys with and without them differ.
  Object.fromEntries(Object.entries(parsedFilters(search)).filter(([, value]) => value !== undefined))

/** All filters, undefined where they are not set. */
function parsedFilters(search: Record<string, unknown>): TaskFilters {
  const id = (value: unknown) => (typeof value === 'string' && UUID.test(value) ? value : undefined)
  const knownValues = <T extends string>(value: unknown, options: Record<T, string>) => {
    const values = [value]
      .flat()
      .filter((one): one is T => typeof one === 'string' && Object.hasOwn(options, one))
    return values.length > 0 ? values : undefined
  }
  const texts = (value: unknown) => {
    const values = [value].flat().filter((one): one is string => typeof one === 'string' && one !== '')
    return values.length > 0 ? values : undefined
  }
  const number = (value: unknown) =>
    Number.isInteger(value) && Number(value) > 0 && Number(value) < 2 ** 31 ? Number(value) : undefined
  const flag = (value: unknown) => (typeof value === 'boolean' ? value : undefined)
  const time = (value: unknown) => (typeof value === 'string' && TIME.test(value) ? value : undefined)
  const q = typeof search.q === 'string' || typeof search.q === 'number' ? String(search.q) : ''

  return {
    projectId: id(search.projectId),
    listId: id(search.listId),
    status: knownValues(search.status, STATUSES),
    source: knownValues(search.source, SOURCES),
    priority: knownValues(search.priority, PRIORITIES),
    label: texts(search.label),
    assignee: texts(search.assignee),
    kind: knownValues(search.kind, KINDS)?.[0],
    externalId: texts(search.externalId),
    codehostIssueNumber: number(search.codehostIssueNumber),
    codehostPrNumber: number(search.codehostPrNumber),
    createdSince: time(search.createdSince),
    openedSince: time(search.openedSince),
    updatedSince: time(search.updatedSince),
    isReady: flag(search.isReady),
    claimed: flag(search.claimed),
    triaged: flag(search.triaged),
    snoozed: flag(search.snoozed),
    needsAnswer: flag(search.needsAnswer),
    includeArchived: search.includeArchived === true || undefined,
    q: firstCharacters(q, MAX_QUERY) || undefined,
    sort: knownValues(search.sort, SORTS)?.[0],
  }
}

const NO_FILTERS = parsedFilters({})

/** Whether filters are set, besides project and list. */
export const isFiltered = ({ projectId, listId, sort, ...filters }: TaskFilters) =>
  Object.values(filters).some((value) => value !== undefined)
