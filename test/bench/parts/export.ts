import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createReadStream, createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { type IncomingMessage, request } from 'node:http'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import type { Figure } from '../support/figures.ts'
import { fillWithTasks } from '../support/many-tasks.ts'
import { ADMIN_KEY, memoryOf, query, type Running, type Setup } from '../support/setup.ts'

const MILLION = 1_000_000
const HEADERS = { 'x-api-key': ADMIN_KEY }

/** A million tasks with as many comments and rows of activity: exported, imported into a new instance, exported again. */
export async function* exportAndImport(setup: Setup): AsyncGenerator<Figure> {
  const source = await setup.database('export_source')
  await fillWithTasks(source, MILLION, { isSearchable: false })
  await query(source, ...COMMENTS_AND_ACTIVITY)
  const files = ['first', 'second'].map((name) => join(setup.directory, `${name}.ndjson`))
  const [first = '', second = ''] = files
  try {
    yield* measured(setup, { database: source, name: 'export of a million tasks' }, (service) =>
      exportTo(first, service),
    )
    const copy = await setup.database('export_copy')
    yield* measured(setup, { database: copy, name: 'import of a million tasks' }, (service) =>
      importFrom(first, service),
    )
    const service = await setup.service({ DATABASE_URL: copy })
    await exportTo(second, service)
    await service.stop()
    const [before, after] = await Promise.all(files.map(hashOfRows))
    if (before !== after) throw new Error('The exports before and after the import differ.')
  } finally {
    for (const file of files) await rm(file, { force: true })
  }
}

async function* measured(
  setup: Setup,
  { database, name }: { database: string; name: string },
  work: (service: Running) => Promise<void>,
): AsyncGenerator<Figure> {
  const service = await setup.service({ DATABASE_URL: database })
  const since = performance.now()
  await work(service)
  yield { name, unit: 's', value: (performance.now() - since) / 1_000 }
  const { peak } = memoryOf(service)
  yield { name: `peak memory, ${name}`, unit: 'MB', value: peak, valueLimit: { atMost: 200 } }
  await service.stop()
}

async function exportTo(file: string, service: Running): Promise<void> {
  const response = await fetch(`${service.url}/api/export`, { headers: HEADERS })
  if (!response.ok || !response.body) throw new Error(`${response.status} ${await response.text()}`)
  await pipeline(Readable.fromWeb(response.body as never), createWriteStream(file))
}

/** Not with fetch, which waits at most five minutes for a response. */
async function importFrom(file: string, service: Running): Promise<void> {
  const headers = { ...HEADERS, 'content-type': 'application/x-ndjson' }
  const sending = request(`${service.url}/api/import`, { method: 'POST', headers })
  const responded = once(sending, 'response')
  await pipeline(createReadStream(file), sending)
  const [response] = (await responded) as [IncomingMessage]
  const body = await text(response)
  if (response.statusCode !== 200) throw new Error(`${response.statusCode} ${body}`)
}

/** Of all lines but the first, which has the time. */
async function hashOfRows(file: string): Promise<string> {
  const hash = createHash('sha256')
  let isHeader = true
  for await (const chunk of createReadStream(file)) {
    const start: number = isHeader ? chunk.indexOf('\n') + 1 : 0
    isHeader = isHeader && start === 0
    if (!isHeader) hash.update(chunk.subarray(start))
  }
  return hash.digest('hex')
}

const COMMENTS_AND_ACTIVITY = [
  `set session_replication_role = replica`,
  `insert into comments (id, task_id, body, author_type, author_name, is_public, created_at, updated_at)
   select uuidv7(created_at - now()), id, title || '. ' || left(description, 100), 'key', 'bench', false, created_at, created_at
   from tasks`,
  `update tasks set comment_count = 1`,
  `insert into activity (id, type, task_id, project_id, actor_type, actor_name, metadata, created_at)
   select uuidv7(created_at - now()), 'task.created', id, project_id, 'key', 'bench', '{}', created_at from tasks`,
  `update lists set open_count = counted.open
   from (select list_id, count(*) as open from tasks where status <> 'done' group by list_id) as counted
   where list_id = lists.id`,
  'vacuum analyze',
]
