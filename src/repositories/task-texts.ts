import { type SQL, sql } from '../db/drizzle.ts'
import { taskTextChanges, taskTexts } from '../db/tables/task-texts.ts'
import { tasks } from '../db/tables/tasks.ts'
import type { Executor } from './index.ts'

/** The advisory lock of the indexer: two at once could leave an outdated text in the index. */
const INDEX_LOCK = 7_461_002

/** The search index of task texts, updated after the tasks. */
export function taskTextsRepository(db: Executor) {
  return {
    /** Whether there is anything to index: one statement, while an attempt to index takes four. */
    async hasChanges(): Promise<boolean> {
      const { rows } = await db.execute<{ hasChanges: boolean }>(
        sql`select exists (select from ${taskTextChanges}) as "hasChanges"`,
      )
      return rows[0]?.hasChanges ?? false
    },

    /**
     * Returns true if this transaction may index. A separate statement, so that indexing sees what the previous one
     * committed. Commits asynchronously: work lost in a crash is repeated.
     */
    async claimIndexing(): Promise<boolean> {
      const { rows } = await db.execute<{ isMine: boolean }>(
        sql`select pg_try_advisory_xact_lock(${INDEX_LOCK}) as "isMine", set_config('synchronous_commit', 'off', true)`,
      )
      return rows[0]?.isMine ?? false
    },

    /**
     * Indexes the texts of at most `limit` new or changed tasks, and removes those of purged ones; returns how many it
     * processed.
     */
    async index(limit: number): Promise<number> {
      const { rows } = await db.execute<{ taken: number }>(sql`
        with taken as (
          delete from ${taskTextChanges}
          where ctid = any(array(select ctid from ${taskTextChanges} limit ${limit}))
          returning task_id
        ), indexed as (
          insert into ${taskTexts} (task_id, title, beginning, names)
          select id, ${TEXTS_OF_TASK} from ${tasks} where id in (select task_id from taken)
          on conflict (task_id) do update
          set title = excluded.title, beginning = excluded.beginning, names = excluded.names
        ), removed as (
          delete from ${taskTexts}
          where task_id in (select task_id from taken where not exists (
            select from ${tasks} where id = taken.task_id))
        )
        select count(*)::integer as taken from taken`)
      return rows[0]?.taken ?? 0
    },
  }
}

/** Tasks whose text contains each of these words, by reading each task. */
export const contains = (words: string[]) => hasWords(textOf(TASK), words)

/**
 * The ids of the same tasks by the text index, which looks for one of the words: for a frequent one it takes longer than
 * reading what a rare one finds. Tasks not yet indexed are read themselves.
 */
export const foundByText = (words: string[], indexed: string): SQL => sql`
  select task_id from ${taskTexts}
  where ${isIndexed(indexed)} and ${hasWords(textOf(INDEXED), words)}
    and not exists (select from ${taskTextChanges} as later where later.task_id = ${taskTexts}.task_id)
  union all
  select id from ${tasks}
  where id = any(array(select task_id from ${taskTextChanges})) and ${contains(words)}`

/**
 * The word that the fewest texts have, and how many, as the planner estimates it from a sample. Undefined where the index
 * doesn't help: for words of two characters, without pg_trgm, or while many texts are still to be indexed. Takes 1 ms.
 */
export async function rarestWord(
  db: Executor,
  words: string[],
): Promise<{ word: string; matches: number } | undefined> {
  const { rows: states } = await db.execute<{ isBehind: boolean; isAnalyzed: boolean }>(sql`
    select exists (select from ${taskTextChanges} offset ${sql.raw(String(MAX_BEHIND))}) as "isBehind",
      (select reltuples > 0 from pg_class where oid = 'task_texts'::regclass) as "isAnalyzed"`)
  const [{ isBehind = false, isAnalyzed = false } = {}] = states
  if (isBehind) return undefined
  const indexed: { word: string; matches: number }[] = []
  for (const word of words.filter((word) => TRIGRAM.test(word)).slice(0, MAX_INDEXED)) {
    const { rows } = await db.execute<{ 'QUERY PLAN': [{ Plan: EstimatedPlan }] }>(
      sql`explain (format json) select from ${taskTexts} where ${isIndexed(word)}`,
    )
    const plan = rows[0]?.['QUERY PLAN'][0].Plan
    if (plan?.['Node Type'] !== 'Bitmap Heap Scan') continue
    indexed.push({ word, matches: isAnalyzed ? plan['Plan Rows'] : UNKNOWN_MATCHES })
  }
  return indexed.sort((a, b) => a.matches - b.matches)[0]
}

/** Reading so many texts that are not yet indexed takes 60 ms. */
const MAX_BEHIND = 6_000
/** Any word may be frequent: the next tasks are read first. */
const UNKNOWN_MATCHES = 20_000

/** Without one, the index is read whole, which the planner may take for cheap. */
const TRIGRAM = /[\p{L}\p{N}]{3}/u

interface EstimatedPlan {
  'Node Type': string
  'Plan Rows': number
}

/** Of the words, which begin with the longest: these are in the fewest tasks. */
const MAX_INDEXED = 3

function isIndexed(word: string): SQL {
  const patterns = spellingsOf(word).map((spelling) => sql`lower(${patternOf(spelling)})`)
  const places = patterns.map(
    (pattern) => sql`title like ${pattern} or beginning like ${pattern} or names like ${pattern}`,
  )
  return sql`(${sql.join(places, sql` or `)})`
}

/** Texts are stored as they were sent: an accent is part of its letter, or follows it. */
const spellingsOf = (word: string) => [...new Set([word.normalize('NFC'), word.normalize('NFD')])]

function hasWords(text: SQL, words: string[]): SQL {
  const several = words.map(spellingsOf).filter((spellings) => spellings.length > 1)
  const single = words.filter((word) => spellingsOf(word).length === 1)
  return sql.join(
    [
      sql`${text} like all(${patternsOf(single)})`,
      ...several.map((spellings) => sql`${text} like any(${patternsOf(spellings)})`),
    ],
    sql` and `,
  )
}

const SEPARATOR = "E'\\x1f'"
const NAMES = `concat_ws(${SEPARATOR}, external_id, nullif(array_to_string(labels, ${SEPARATOR}), ''), nullif(array_to_string(assignees, ${SEPARATOR}), ''))`
/** As they are indexed. */
const TASK = ['lower(title)', 'lower(left(description, 1000))', `nullif(lower(${NAMES}), '')`]
const INDEXED = ['title', 'beginning', 'names']

/** The texts of rows of `tasks` as `task_texts` has them. */
export const TEXTS_OF_TASK = sql.raw(TASK.join(', '))

/** The texts that are searched, as one. */
const textOf = (texts: string[]): SQL => sql.raw(`concat_ws(${SEPARATOR}, ${texts.join(', ')})`)

/** In a subquery, which is computed once. */
const patternsOf = (words: string[]): SQL =>
  sql`array(select lower(pattern) from unnest(${sql.param(words.map(patternOf))}::text[]) as pattern)`

/** A pattern of LIKE for what contains a text. */
export const patternOf = (text: string) => `%${text.replace(/[\\%_]/g, '\\$&')}%`
