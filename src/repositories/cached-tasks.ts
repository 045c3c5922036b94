import { sql } from '../db/drizzle.ts'
import { preparedStatement } from '../db/prepared-statement.ts'
import { tasks } from '../db/tables/tasks.ts'
import { MAX_PAGE_BYTES } from '../domain/cursor.ts'
import type { Executor } from './index.ts'
import { isReachedBy, type Reach } from './reach.ts'
import type { CachedTask, TaskCache } from './task-cache.ts'
import { factColumns, jsonBytes, SELECTED_FACTS, taskJsonParts, taskKey } from './task-json.ts'

/** Where tasks are read from. */
export interface TaskReader {
  db: Executor
  reach: Reach
  /** Not in a transaction: what it has written may be rolled back. */
  cache?: TaskCache | undefined
}

/** The tasks of a page, as one statement sees them. */
export interface KeysOfPage {
  /** As `taskKey` makes them. */
  keys: string[]
  /** As `SERVER` names it. */
  server: string
}

/** As many tasks as a page has room for. */
export interface TasksJson {
  /** As JSON text, by id. */
  items: Map<string, string>
  /** Those that there is no room for. */
  unread: Set<string>
}

/** Another server, or one that started again, may have used the numbers of transactions for other rows. */
export const SERVER = sql.raw('extract(epoch from pg_postmaster_start_time())::text')

export const MAX_BYTES = sql.raw(String(MAX_PAGE_BYTES))

/**
 * The tasks with these keys, with commas between them: those that were read before from the cache, the others from the
 * database. Undefined if one has changed meanwhile, or a page has no room for all.
 */
export async function readCached(
  { db, reach, cache }: TaskReader & { cache: TaskCache },
  { keys, server, kind, isSummary }: KeysOfPage & { kind: string; isSummary: boolean },
): Promise<Buffer[] | undefined> {
  const named = `${server} ${isSummary ? 'summary' : 'task'} `
  const found: (CachedTask | undefined)[] = keys.map((key) => cache.get(named + key))
  const missing = keys.filter((_, index) => !found[index])
  const read = new Map<string, CachedTask>()
  let hasRoom = true
  if (missing.length > 0) {
    const ids = missing.map(idOfKey)
    const { rows } = await (isSummary ? findSummaries : findTasks)(db, { ids, reach: reach.projectIds })
    for (const { key, json, bytes } of rows) {
      if (json === null) {
        hasRoom = false
        break
      }
      const task = { json: ownBytesOf(json), bytes }
      read.set(key, task)
      cache.set(named + key, task)
    }
  }
  const tasks = keys.map((key, index) => found[index] ?? read.get(key))
  hasRoom &&= bytesOf(tasks.slice(0, -1)) < MAX_PAGE_BYTES
  // A page that is too large is so the next time, too.
  cache.noteFound(kind, {
    found: hasRoom ? keys.length - missing.length : 0,
    expected: keys.length,
  })
  if (!hasRoom || !tasks.every((task) => task !== undefined)) return undefined
  return tasks.flatMap(({ json }, index) => (index === 0 ? [json] : [COMMA, json]))
}

const bytesOf = (tasks: (CachedTask | undefined)[]) =>
  tasks.reduce((sum, task) => sum + (task?.bytes ?? 0), 0)

/** As many of these tasks as a page has room for, in the order of the ids; at least the first that there is. */
export async function readTasksJson({ db, reach }: TaskReader, ids: string[]): Promise<TasksJson> {
  const { rows } = await findShown(db, { ids, reach: reach.projectIds })
  const found = rows.map(({ key, json }) => ({ id: idOfKey(key), json }))
  return {
    items: new Map(found.flatMap(({ id, json }) => (json === null ? [] : [[id, json] as const]))),
    unread: new Set(found.flatMap(({ id, json }) => (json === null ? [id] : []))),
  }
}

interface ReadTask {
  key: string
  /** Null if the page has no room for it. */
  json: string | null
  bytes: number
}

interface FoundTasks {
  /** In the names of statements. */
  what: string
  isSummary: boolean
  isDeletedShown: boolean
}

/** As many of the tasks with these ids as a page has room for, with their keys. */
function tasksByIds({ what, isSummary, isDeletedShown }: FoundTasks) {
  const { opening, ending } = taskJsonParts({ isSummary, facts: SELECTED_FACTS })
  // With a limit, each is found by its id. Without statistics, a join reads all tasks.
  return preparedStatement<ReadTask>(
    what,
    sql`
      select key, case when before < ${MAX_BYTES} then opening || ${ending} end as json, bytes
      from (
        select *, sum(bytes) over (order by place) - bytes as before
        from (
          select *, ${jsonBytes({ isSummary })} as bytes
          from (
            select place, description, notes, ${taskKey(SELECTED_FACTS)} as key, ${opening} as opening
            from unnest(${sql.placeholder('ids')}::uuid[]) with ordinality as listed (listed_id, place)
            cross join lateral (select *, xmin, ${factColumns} from ${tasks} where id = listed_id limit 1) as tasks
            where ${isReachedBy(sql`project_id`, sql.placeholder('reach'))}
              ${isDeletedShown ? sql`` : sql`and deleted_at is null`}
            offset 0
          ) as made
        ) as measured
      ) as sized`,
  )
}

const findTasks = tasksByIds({ what: 'tasks by ids', isSummary: false, isDeletedShown: true })
const findSummaries = tasksByIds({ what: 'summaries by ids', isSummary: true, isDeletedShown: true })
const findShown = tasksByIds({ what: 'tasks by ids, not deleted', isSummary: false, isDeletedShown: false })

/** The id of a task, of a key that `taskKey` made. */
export const idOfKey = (key: string): string => key.slice(0, ID_LENGTH)

const ID_LENGTH = 36
const COMMA = Buffer.from(',')

/** Not of Node's pool: a few bytes that are kept would keep all of it. */
function ownBytesOf(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text))
  bytes.write(text)
  return bytes
}
