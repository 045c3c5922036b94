import { query } from './setup.ts'

/** Words by how many of a hundred tasks hold them, about. */
export const WORDS = { export: 35, dashboard: 5, timeout: 0.5, quokka: 0.05, zzyzx: 0 }

/** Holds the oldest of them. */
export const SMALL_PROJECT = { name: 'Small', tasks: 3_000 }

const SNIPPETS = 20_000

/**
 * Fills a migrated database with tasks in ten projects, each with a line of title and three of description, in the state
 * they have after a while: indexes built, statistics known, and the texts indexed unless nothing will search them. They
 * were opened in as many days before they came.
 */
export async function fillWithTasks(
  connectionString: string,
  count: number,
  { isSearchable = true, openedDays = 0 } = {},
): Promise<void> {
  const indexes = await query<{ name: string; definition: string }>(
    connectionString,
    `select indexname as name, indexdef as definition from pg_indexes
     where schemaname = 'public' and tablename in ('tasks', 'task_texts') and indexname not like '%_pkey'`,
  )
  await query(
    connectionString,
    // Without triggers and foreign keys: the same rows in less time.
    `set session_replication_role = replica; set synchronous_commit = off; set maintenance_work_mem = '512MB'`,
    ...indexes.map(({ name }) => `drop index ${name}`),
    PLACES,
    `create temp table snippets (n integer primary key, words text)`,
    `insert into snippets select ordinality - 1, value
     from json_array_elements_text('${JSON.stringify(snippets())}') with ordinality`,
    `create temp table places as select row_number() over (order by id) - 1 as n, id, project_id from lists`,
    `analyze snippets, places`,
    `insert into tasks (id, title, description, status, priority, source, project_id, list_id, labels, assignees,
       metadata, created_by_type, created_by_name, created_at, opened_at, updated_at, completed_at, version)
     select uuidv7(make_interval(secs => i - ${count} - 60)), left(a.words, 60), b.words || '. ' || c.words || '. ' || d.words,
       case when i % 3 = 0 then 'open' else 'done' end, 1 + i % 3, 'api', places.project_id, places.id, '{bug}', '{}',
       '{}', 'key', 'bench', at, at - interval '1 day' * (i * 7919::bigint % ${openedDays + 1}),
       at + interval '1 hour' * (i % 7), case when i % 3 <> 0 then at end, 1
     from generate_series(1, ${count}) as i
     cross join lateral (select now() + make_interval(secs => i - ${count} - 60) as at) as time
     join snippets a on a.n = (i * 7919::bigint) % ${SNIPPETS}
     join snippets b on b.n = (i * 104729::bigint + 1) % ${SNIPPETS}
     join snippets c on c.n = (i * 1299709::bigint + i / 7) % ${SNIPPETS}
     join snippets d on d.n = (i * 15485863::bigint + i / 11) % ${SNIPPETS}
     join places on places.n = i % (select count(*) from places)
     order by i`,
    SMALL,
    ...(isSearchable
      ? [
          `insert into task_texts (task_id, title, beginning, names)
           select id, lower(title), lower(left(description, 1000)), labels[1] from tasks`,
        ]
      : []),
    ...indexes.map(({ definition }) => definition),
    'vacuum analyze tasks',
    'vacuum analyze task_texts',
  )
}

const PLACES = `
  with project as (
    insert into projects (id, name, created_at, updated_at)
    select uuidv7(), 'Project ' || i, now(), now() from generate_series(1, 10) as i returning id
  )
  insert into lists (id, project_id, name, position, is_default, created_at)
  select uuidv7(), id, 'List ' || i, i, i = 0, now() from project, generate_series(0, 2) as i`

const SMALL = `
  with project as (
    insert into projects (id, name, created_at, updated_at)
    values (uuidv7(), '${SMALL_PROJECT.name}', now(), now()) returning id
  ), list as (
    insert into lists (id, project_id, name, position, is_default, created_at)
    select uuidv7(), id, 'List', 0, true, now() from project returning id, project_id
  )
  update tasks set project_id = list.project_id, list_id = list.id from list
  where tasks.id in (select id from tasks order by id limit ${SMALL_PROJECT.tasks})`

/** Lines of eight words, with frequent and rare words as in a language, and the words that searches look for. */
function snippets(): string[] {
  const random = generator(42)
  const syllables = [
    'ra',
    'to',
    'men',
    'sh',
    'li',
    'on',
    'por',
    'da',
    'bu',
    'ver',
    'fi',
    'le',
    'ne',
    'or',
    'ti',
    'ca',
    'lo',
    'gin',
    'pa',
    'us',
    'te',
    'ing',
    'pre',
    'co',
    'de',
  ]
  const pick = <T>(from: T[]) => from[Math.floor(random() * from.length)] as T
  const vocabulary = Array.from({ length: 30_000 }, () =>
    Array.from({ length: 2 + Math.floor(random() * 3) }, () => pick(syllables)).join(''),
  )
  const word = () => vocabulary[Math.floor(vocabulary.length ** random()) - 1] as string
  const lines = Array.from({ length: SNIPPETS }, () => Array.from({ length: 8 }, word).join(' '))
  for (const [searched, percent] of Object.entries(WORDS)) {
    // A task has four lines.
    const lineCount = Math.round((SNIPPETS * percent) / 100 / 4)
    for (let i = 0; i < lineCount; i++) lines[Math.floor(random() * SNIPPETS)] += ` ${searched}`
  }
  return lines
}

/** Returns the same numbers in each run. */
function generator(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32
    return state / 2 ** 32
  }
}
