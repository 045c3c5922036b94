import { type SQL, sql } from '../db/drizzle.ts'
import { opaqueArray, preparedStatement } from '../db/prepared-statement.ts'
import { tasks } from '../db/tables/tasks.ts'
import { idOfKey, MAX_BYTES, readCached, SERVER, type TaskReader } from './cached-tasks.ts'
import { isReachedBy, type Reach } from './reach.ts'
import { jsonBytes, taskJson, taskJsonParts, taskKey } from './task-json.ts'
import type { ReachedPlace } from './task-page-conditions.ts'
import { rowsOf, sortKey, sortValue, type TaskPosition } from './task-page-rows.ts'
import type { TaskPageRequest } from './task-pages.ts'

/** A page of tasks as JSON. */
export interface TaskPageJson {
  /** One after another: the items, separated by commas, without brackets. */
  items: Buffer[]
  /** The last item, if another page follows. */
  last: TaskPosition | null
}

interface PageRow {
  items: string
  lastId: string | null
  lastKey: string | null
}

interface KeysRow {
  /** As `taskKey` makes them, separated by commas. Null without rows. */
  keys: string | null
  /** Of the last item, if another page follows. */
  lastKey: string | null
  server: string
}

/** A task as JSON text. */
export interface TaskJson {
  json: string
  version: number
}

/** Each is prepared by each connection. */
const MAX_STATEMENTS = 200

const statements = new Map<string, PreparedPage>()

interface PreparedPage {
  kind: string
  page: ReturnType<typeof preparedStatement<PageRow>>
  keys: ReturnType<typeof preparedStatement<KeysRow>>
}

/** Reads a page of a place. The best plan is the same for all values, so each shape is prepared once. */
export async function readPlaceJson(
  reader: TaskReader,
  { projectIds, place, page }: ReachedPlace & Reach & { page: TaskPageRequest },
): Promise<TaskPageJson> {
  const { projectId, listId, mergedInto, deletedSince, skipsArchived } = place
  const { after, ...sort } = page
  const values = {
    ...(projectIds !== null && { reach: projectIds }),
    ...(projectId !== undefined && { projectId }),
    ...(listId !== undefined && { listId }),
    ...(mergedInto !== undefined && { mergedInto }),
    ...(deletedSince && { deletedSince }),
    ...(after && { afterId: after.id, ...(page.sortBy !== 'created' && { afterKey: after.key }) }),
  }
  const read = statementFor({ ...sort, skipsArchived, given: Object.keys(values) })
  if (!read) return readRowsJson(reader, { page, rows: rowsOf({ projectIds, place }, page) })
  const { db } = reader
  return pageOf(reader, {
    page,
    kind: read.kind,
    readPage: () => read.page(db, values),
    readKeys: () => read.keys(db, values),
  })
}

/** Reads a page of any rows of tasks that are in its order. */
export async function readRowsJson(
  reader: TaskReader,
  { rows, page }: { rows: SQL; page: TaskPageRequest },
): Promise<TaskPageJson> {
  const { db } = reader
  return pageOf(reader, {
    page,
    kind: page.after ? 'filtered, next' : 'filtered',
    readPage: () => db.execute<PageRow & Record<string, unknown>>(pageStatement(rows, page)),
    readKeys: () => db.execute<KeysRow & Record<string, unknown>>(keysStatement(rows, page)),
  })
}

const findJson = preparedStatement<TaskJson>(
  'task',
  sql`
    select ${taskJson({ isSummary: false })} as json, version from ${tasks}
    where id = ${sql.placeholder('id')} and deleted_at is null
      and ${isReachedBy(tasks.projectId, sql.placeholder('reach'))}`,
)

/** Reads a task. */
export async function readTaskJson({ db, reach }: TaskReader, id: string): Promise<TaskJson | undefined> {
  const { rows } = await findJson(db, { id, reach: reach.projectIds })
  return rows[0]
}

interface PageReads {
  page: TaskPageRequest
  /** Pages of a kind are about as likely to be kept. */
  kind: string
  readPage(): Promise<{ rows: PageRow[] }>
  readKeys(): Promise<{ rows: KeysRow[] }>
}

async function pageOf(
  reader: TaskReader,
  { page, kind, readPage, readKeys }: PageReads,
): Promise<TaskPageJson> {
  const { cache } = reader
  if (cache?.isWorthwhile(kind)) {
    const { rows } = await readKeys()
    const [row] = rows
    if (!row?.keys) return NOTHING
    const keys = row.keys.split(',')
    const shown = keys.slice(0, page.limit - 1)
    const { isSummary } = page
    const items = await readCached({ ...reader, cache }, { keys: shown, server: row.server, kind, isSummary })
    const lastId = shown.length < keys.length ? idOfKey(shown.at(-1) ?? '') : null
    if (items !== undefined) return { items, last: lastOf({ lastId, lastKey: row.lastKey }, page) }
  }
  const [row] = (await readPage()).rows
  return row ? { items: [Buffer.from(row.items)], last: lastOf(row, page) } : NOTHING
}

const NOTHING: TaskPageJson = { items: [], last: null }

const lastOf = ({ lastId, lastKey }: Omit<PageRow, 'items'>, page: TaskPageRequest): TaskPosition | null =>
  lastId === null ? null : { id: lastId, key: sortValue(page, lastKey) }

/** Everything that a statement depends on, except for values. */
interface PageShape extends Omit<TaskPageRequest, 'after'> {
  skipsArchived: boolean | undefined
  /** The names of the values that are given. */
  given: string[]
}

/** Undefined if there are too many. */
function statementFor(shape: PageShape) {
  const shapeKey = JSON.stringify(shape)
  const known = statements.get(shapeKey)
  if (known || statements.size >= MAX_STATEMENTS) return known
  const { given, skipsArchived, ...page } = shape
  const value = (name: string) => (given.includes(name) ? sql.placeholder(name) : undefined)
  const place = {
    projectId: value('projectId'),
    listId: value('listId'),
    mergedInto: value('mergedInto'),
    deletedSince: value('deletedSince'),
    skipsArchived,
  }
  const afterId = value('afterId')
  const after = afterId && { id: afterId, key: sql.placeholder('afterKey') }
  const projectIds = given.includes('reach') ? opaqueArray('reach', 'uuid') : null
  const rows = rowsOf({ projectIds, place }, { ...page, after })
  // PostgreSQL tells names apart by their first 63 characters.
  const number = statements.size
  const statement = {
    kind: shapeKey,
    page: preparedStatement<PageRow>(`page of tasks #${number}`, pageStatement(rows, page)),
    keys: preparedStatement<KeysRow>(`keys of a page of tasks #${number}`, keysStatement(rows, page)),
  }
  statements.set(shapeKey, statement)
  return statement
}

/**
 * The items end with the one that brings them to the size of a page: texts that there is no room for are not read. One row
 * more than the page has tells whether another page follows.
 */
function pageStatement(rows: SQL, { isSummary, limit, ...page }: Omit<TaskPageRequest, 'after'>): SQL {
  const { opening, ending } = taskJsonParts({ isSummary })
  const bytes = jsonBytes({ isSummary })
  return sql`
    with rows as materialized (${rows})
    select page.items, last.id as "lastId", last.key as "lastKey"
    from (
      select coalesce(string_agg(opening || ${ending}, ','), '') as items, count(*) as count
      from (
        select opening, description, notes, sum(${bytes}) over (rows unbounded preceding) - (${bytes}) as before
        from (
          select ${opening} as opening, description, notes from rows limit ${sql.raw(String(limit - 1))}
        ) as made
      ) as sized where before < ${MAX_BYTES}
    ) as page left join lateral (
      select id, ${sortKey(page)} as key from rows offset greatest(page.count - 1, 0) limit 1
    ) as last on exists (select from rows offset page.count)`
}

/** The keys of a page that has room for all of its tasks, and of the one that follows. */
function keysStatement(rows: SQL, { limit, ...page }: Omit<TaskPageRequest, 'after'>): SQL {
  const key = sortKey(page)
  // Of those sorted by creation it is null.
  const last = page.sortBy === 'created' ? key : sql`(array_agg(${key}))[${sql.raw(String(limit - 1))}]`
  return sql`
    select string_agg(${taskKey()}, ',') as keys, ${last} as "lastKey", ${SERVER} as server from (${rows}) as tasks`
}
