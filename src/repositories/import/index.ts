import { isLockConflict } from '../../db/database-error.ts'
import { type NodePgDatabase, type SQL, sql } from '../../db/drizzle.ts'
import type { Database } from '../../db/pool.ts'
import type { Session } from '../../db/session.ts'
import type { ImportKind } from '../../domain/import-reader.ts'
import { announceAccessChange } from '../access-changes.ts'
import { changesRepository } from '../changes.ts'
import { CONFIGURATION_CHANGES } from '../configuration-changes.ts'
import { columnsOf } from '../export/columns.ts'
import { nameOf } from '../export/index.ts'
import { EXPORTED_TABLES, FOLLOWING_TABLES } from '../export/tables.ts'
import type { Executor } from '../index.ts'
import {
  addReferring,
  type BadReference,
  createReferring,
  findBadReferences,
  type ImportedDependency,
  listDependencies,
} from './references.ts'
import { insertLines, type LineRefusal } from './rows.ts'

/** The channel for notices that an import began or ended. */
export const IMPORTS = 'inlet_imports'

/** The advisory lock of the import in progress. It ends with the connection, also when the instance is killed. */
const IMPORT_LOCK = 7_461_010

/** What no constraint of the database says of the imported rows. */
interface ImportedWhole {
  /** Projects that are the default. */
  defaults: number
  /** Projects without a default list. */
  withoutList: number
  /** People with a project that is not there. */
  withoutProject: number
}

/** The transaction of an import. */
export interface ImportTarget {
  /** What there is beside an Inbox without tasks, as words. */
  listContents(): Promise<string[]>
  /** Deletes the Inbox, the trash, deleted rules, the activity, and people with all that they have. */
  clear(): Promise<void>
  /** Inserts all of these lines; returns which one was refused. */
  insert(kind: string, lines: string[]): Promise<LineRefusal | undefined>
  /** Remembers the lines of rows whose references are checked at the end. */
  addReferring(rows: { id: string; line: number }[]): Promise<void>
  /** Those of the remembered lines that refer to something they can't, up to a hundred. */
  findBadReferences(): Promise<BadReference[]>
  /** The tasks that may be part of a cycle, by line. */
  listDependencies(): Promise<ImportedDependency[]>
  /** Keeps the transaction open while the file arrives slowly. */
  keepAlive(): Promise<void>
  /** Counts what follows from the rows. */
  complete(): Promise<ImportedWhole>
}

/** Writes an import on a connection of its own, while nothing else writes. */
export function importRepository(db: Executor & Pick<Database, 'openSession'>) {
  return {
    kinds: EXPORTED_TABLES.map(kindOf),

    /** Whether an import is in progress on any instance. */
    async isRunning(): Promise<boolean> {
      const { rows } = await db.execute<{ isRunning: boolean }>(sql`
        select exists (
          select from pg_locks
          where locktype = 'advisory' and granted and classid = 0 and objid = ${IMPORT_LOCK} and objsubid = 1
            and database = (select oid from pg_database where datname = current_database())
        ) as "isRunning"`)
      return rows[0]?.isRunning ?? false
    },

    /**
     * Does the work in one transaction, in which all other writes wait; they are refused as soon as their instance has
     * the notice. Returns undefined without doing it if another import is in progress.
     */
    async run<T extends object>(work: (target: ImportTarget) => Promise<T>): Promise<T | undefined> {
      const session = await db.openSession({ name: 'inlet import' })
      try {
        if (!(await lock(session))) return undefined
        await announce(session)
        await begin(session)
        const result = await work(targetIn(session))
        await session.db.execute(sql`select pg_notify(${CONFIGURATION_CHANGES}, '')`)
        await announceAccessChange(session.db)
        await session.db.execute(sql`commit`)
        return result
      } finally {
        await end(session)
      }
    },
  }
}

const kindOf = (exported: (typeof EXPORTED_TABLES)[number]): ImportKind => ({
  kind: exported.kind,
  fields: columnsOf(exported).map(({ member, type, values, isNullable, defaultSql }) => ({
    name: member,
    type,
    values,
    isNullable,
    isRequired: !isNullable && defaultSql === undefined,
  })),
})

async function lock({ db }: Session): Promise<boolean> {
  const { rows } = await db.execute<{ isMine: boolean }>(
    sql`select pg_try_advisory_lock(${IMPORT_LOCK}) as "isMine"`,
  )
  return rows[0]?.isMine ?? false
}

const announce = ({ db }: Session) => db.execute(sql`select pg_notify(${IMPORTS}, '')`)

/**
 * Excludes all other writers, also those that lock rows before they write; readers are not delayed. Waits for writes in
 * progress. People, lists and tasks come first, as in other transactions.
 */
async function begin({ db }: Session): Promise<void> {
  for (let attempts = 1; ; attempts++) {
    await db.execute(sql`begin`)
    await db.execute(sql`set local lock_timeout = '10s'`)
    try {
      await db.execute(sql.raw(`lock table ${LOCKED_TABLES.join(', ')} in exclusive mode`))
      break
    } catch (error) {
      // Jobs write what follows from tasks first, then lists: no order suits them and requests.
      if (!isLockConflict(error) || attempts === MAX_ATTEMPTS) throw error
      await db.execute(sql`rollback`)
    }
  }
  await db.execute(sql`set local lock_timeout = 0`)
  await createReferring(db)
}

// The job of notifications first: it writes what refers to the others.
const LOCKED_TABLES = [
  ...new Set(['notification_progress', 'users', ...EXPORTED_TABLES.map(nameOf), ...FOLLOWING_TABLES]),
]
/** After each, whoever was waited for is done. */
const MAX_ATTEMPTS = 5

/** The lock first, so that instances that have the notice find it gone. */
async function end(session: Session): Promise<void> {
  try {
    await session.db.execute(sql`rollback`)
    await session.db.execute(sql`select pg_advisory_unlock(${IMPORT_LOCK})`)
    await announce(session)
  } catch {
    // The connection is lost, and the lock with it. Instances check once a second while they know of an import.
  } finally {
    await session.close()
  }
}

function targetIn({ db }: Session): ImportTarget {
  return {
    async listContents() {
      const { rows } = await db.execute<{ contents: string[] }>(sql`
        select array_remove(array[
          case when exists (select from tasks where deleted_at is null) then 'tasks' end,
          case when (select count(*) from projects) > 1 then 'projects' end,
          case when (select count(*) from lists) > 1 then 'lists' end,
          case when exists (select from rules where deleted_at is null) then 'rules' end,
          case when exists (select from webhook_routing) then 'routing rules' end,
          case when exists (select from sources) then 'sources' end,
          case when exists (select from webhooks) then 'outgoing webhooks' end,
          case when exists (select from codehost_connections) then 'a connected repository' end,
          case when exists (select from api_keys where project_id is not null and user_id is null)
            then 'keys bound to a project' end,
          case when exists (select from identity_providers where jsonb_typeof(new_users -> 'projectIds') = 'array')
            then 'identity providers with some projects' end
        ], null) as contents`)
      return rows[0]?.contents ?? []
    },

    async clear() {
      for (const statement of CLEARING_PEOPLE) await db.execute(statement)
      // The counts and texts are written once, for all rows: by triggers, each task costs three more rows.
      await db.execute(sql`alter table tasks disable trigger user`)
      for (const table of [
        'activity',
        'tasks',
        ...FOLLOWING_TABLES,
        'rules',
        'sync_runs',
        'list_deletions',
        'project_deletions',
        'lists',
        'projects',
      ]) {
        await db.execute(sql.raw(`delete from ${table}`))
      }
    },

    insert: (kind, lines) => insertLines(db, { kind, lines }),
    addReferring: (rows) => addReferring(db, rows),
    findBadReferences: () => findBadReferences(db),
    listDependencies: () => listDependencies(db),

    async keepAlive() {
      await db.execute(sql`select 1`)
    },

    complete: () => completeImport(db),
  }
}

const personalKeys = sql`select id from api_keys where user_id is not null`

/** People with all that they have. Invites are of an instance. */
const CLEARING_PEOPLE: readonly SQL[] = [
  sql`delete from notifications`,
  sql`delete from task_followers`,
  sql`delete from task_mentions`,
  sql`delete from saved_filters where user_id is not null or key_id in (${personalKeys})`,
  sql`delete from sessions where user_id is not null`,
  sql`delete from api_key_secrets where key_id in (${personalKeys})`,
  sql`delete from api_keys where user_id is not null`,
  sql`delete from invites`,
  sql`delete from sign_in_attempts`,
  sql`delete from passkeys`,
  sql`delete from identities`,
  sql`delete from passwords`,
  sql`delete from users`,
]

/** Writes what follows from the imported rows, and what the planner has to know of them. */
async function completeImport(db: NodePgDatabase): Promise<ImportedWhole> {
  for (const statement of COUNTS) await db.execute(statement)
  await db.execute(sql`alter table tasks enable trigger user`)
  // Without statistics, pages of a million tasks would be read as those of an empty table until the next autovacuum.
  await db.execute(
    sql.raw(`analyze ${[...EXPORTED_TABLES.map(nameOf), 'task_texts', 'task_names'].join(', ')}`),
  )
  // First: it waits for a pass that gives positions to the activity that was deleted, and ends later ones.
  await changesRepository(db).renewEpoch()
  await db.execute(sql`delete from changes`)
  // Nobody is notified of what happened before.
  await db.execute(sql`
    update notification_progress set position = last_position,
      history_until = coalesce((select max(sequence) from activity), 0) from change_feed`)
  const { rows } = await db.execute<{ [Name in keyof ImportedWhole]: number }>(sql`
    select (select count(*)::integer from projects where is_default) as defaults,
      (select count(*)::integer from projects where not exists (
        select from lists where project_id = projects.id and is_default)) as "withoutList",
      (select count(*)::integer from users where not project_ids <@ array(select id from projects))
        as "withoutProject"`)
  return rows[0] ?? { defaults: 0, withoutList: 0, withoutProject: 0 }
}

const COUNTS = [
  sql`update lists set open_count = counted.open
    from (
      select list_id, count(*) as open from tasks where status <> 'done' and deleted_at is null group by list_id
    ) as counted
    where id = counted.list_id`,
  sql`update tasks set comment_count = counted.comments
    from (select task_id, count(*) as comments from comments group by task_id) as counted
    where id = counted.task_id`,
  sql`update tasks set report_count = counted.reports
    from (
      select merged_into, count(*) as reports from tasks
      where merged_into is not null and deleted_at is null group by merged_into
    ) as counted
    where id = counted.merged_into`,
  sql`insert into task_names (kind, project_id, key, name, task_count, open_count)
    select kind, project_id, lower(name), (array_agg(name order by id))[1], count(*),
      count(*) filter (where status <> 'done')
    from tasks, lateral (
      select 'label' as kind, unnest(labels) as name union all select 'assignee', unnest(assignees)
    ) as names
    where deleted_at is null
    group by kind, project_id, lower(name)`,
]
