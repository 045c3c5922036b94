import { type Figure, inPairs } from '../support/figures.ts'
import { requestsPerSecond } from '../support/load.ts'
import { transactionsPerSecond, whyNoPgbench } from '../support/pgbench.ts'
import { ADMIN_KEY, query, type Stage } from '../support/stage.ts'

const SECONDS = 5
/** Until then much of the code is interpreted. */
const WARM_UP_SECONDS = 5
const TASK = {
  title: 'Crash when saving a draft',
  description:
    'The editor closes without a word as soon as a draft is saved for the second time. Seen on three machines, since the update of last week. Log: TypeError: cannot read properties of undefined (reading "revision").',
  priority: 'high',
  labels: ['bug', 'editor'],
}

/** Single creates and bulks of 100, against pgbench writing the same rows into tables with the same indexes. */
export async function creates(stage: Stage): Promise<Figure[]> {
  const missing = await whyNoPgbench()
  if (missing) {
    console.error(missing)
    return []
  }
  const database = await stage.database('creates')
  const service = await stage.service({ DATABASE_URL: database })
  const reference = await stage.database('creates_reference')
  await query(reference, PLACE)
  const [list] = await query<{ id: string }>(database, 'select id from lists limit 1')

  const figures: Figure[] = []
  for (const { name, unit, rows, connections } of [
    { name: 'creates, 32 connections', unit: '/s', rows: 1, connections: 32 },
    { name: 'creates, 1 connection', unit: '/s', rows: 1, connections: 1 },
    { name: 'bulk of 100, 4 connections', unit: 'bulks/s', rows: 100, connections: 4 },
  ]) {
    const body = rows === 1 ? TASK : { listId: list?.id, tasks: Array(rows).fill(TASK) }
    const ours = (seconds: number) =>
      requestsPerSecond({
        url: service.url,
        connections,
        seconds,
        method: 'POST',
        path: rows === 1 ? '/api/tasks' : '/api/tasks/bulk',
        headers: { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json' },
        body: JSON.stringify(body),
        status: 201,
      })
    const measure = () =>
      transactionsPerSecond({
        connectionString: reference,
        directory: stage.directory,
        statement: inserting(rows),
        connections,
        seconds: SECONDS,
      })
    await ours(WARM_UP_SECONDS)
    figures.push(
      await inPairs({ name, unit, ours: () => ours(SECONDS), reference: { name: 'pgbench', measure } }),
    )
  }
  await service.stop()
  return figures
}

const PLACE = `
  with project as (
    insert into projects (id, name, is_default, created_at, updated_at)
    values (uuidv7(), 'Inbox', true, now(), now()) returning id
  )
  insert into lists (id, project_id, name, position, is_default, created_at)
  select uuidv7(), id, 'Inbox', 0, true, now() from project`

/** So many tasks and their activity entries as the service writes them, in one statement; the schema's triggers add the rest. */
const inserting = (rows: number) => `
  with made as (
    insert into tasks (id, title, description, status, priority, source, project_id, list_id, labels, assignees,
      metadata, created_by_type, created_by_id, created_by_name, created_at, updated_at, version)
    select uuidv7(), '${TASK.title}', '${TASK.description}', 'open', 3, 'api', project_id, id, '{bug,editor}', '{}',
      '{}', 'key', project_id, 'bench', now(), now(), 1
    from lists, generate_series(1, ${rows}) returning id, project_id
  )
  insert into activity (id, type, task_id, project_id, actor_type, actor_id, actor_name, metadata, created_at)
  select uuidv7(), 'task.created', id, project_id, 'key', project_id, 'bench', '{}', now() from made;`
