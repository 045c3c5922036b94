import type { Readable } from 'node:stream'
import { findCycle } from '../domain/dependencies.ts'
import { MAX_LINE_BYTES } from '../domain/export-format.ts'
import type { ImportReader, ImportRow } from '../domain/import-reader.ts'
import type { Operations } from '../domain/operation.ts'
import { importInProgress, importNotEmpty, importStalled, validationFailed } from '../errors/index.ts'
import { arrivingChunks } from '../lib/arriving-chunks.ts'
import { linesOf } from '../lib/lines.ts'
import { tracedAsOne } from '../lib/traced.ts'
import type { ImportTarget, importRepository } from '../repositories/import/index.ts'
import type { ImportResult } from '../schemas/import.ts'
import type { Caller } from './access.ts'
import type { ImportState } from './import-state.ts'

/** A file of which nothing arrives for this long is cut: until then, nobody else can write. */
const STALL_MS = 60_000

/** With the stall, this is less than a transaction may be idle: at the lowest pace, a statement or a line takes minutes. */
const KEEP_ALIVE_MS = 30_000

/** The rows of a statement. More are hardly faster. */
const MAX_ROWS = 250
const MAX_BYTES = 512 * 1024

export const importOperations = {
  run: {
    scope: 'admin',
    isServiceWide: true,
    changesSecrets: true,
    needsLasting: true,
    needsServiceKey: true,
  },
} satisfies Operations<ReturnType<typeof importService>>

interface ImportDeps {
  imports: ReturnType<typeof importRepository>
  importing: Pick<ImportState, 'refresh'>
  stallMs?: number
  keepAliveMs?: number
}

/** Imports an export into a new instance. */
export function importService({
  imports,
  importing,
  stallMs = STALL_MS,
  keepAliveMs = KEEP_ALIVE_MS,
}: ImportDeps) {
  return {
    /**
     * Imports all lines or none. Other writes are refused meanwhile, on all instances.
     * @throws import_not_empty, import_in_progress, validation_failed, request_timeout
     */
    async run(_caller: Caller, file: Readable): Promise<ImportResult> {
      const imported = imports.run(async (target) => {
        const contents = await target.listContents()
        if (contents.length > 0) throw importNotEmpty(contents)
        await target.clear()
        // Loaded when it is first needed: it parses templates, whose engine takes megabytes.
        const { importReader } = await import('../domain/import-reader.ts')
        const reader = importReader(imports.kinds)
        const lastLine = await tracedAsOne('import lines', () =>
          insertAll({ file, reader, target, stallMs, keepAliveMs }),
        )
        refuseDefaults(await target.complete(), lastLine)
        return reader.counts
      })
      // Whoever has the response can write at once.
      const counts = await imported.finally(() => importing.refresh())
      if (!counts) throw importInProgress()
      return { counts: Object.fromEntries(counts) }
    },
  }
}

interface ImportReading {
  file: Readable
  reader: ImportReader
  target: ImportTarget
  stallMs: number
  keepAliveMs: number
}

/** Returns the number of the last line. After the first error, lines are only checked. */
async function insertAll({ file, reader, target, stallMs, keepAliveMs }: ImportReading): Promise<number> {
  let rows: ImportRow[] = []
  let bytes = 0
  let count = 0
  const arriving = arrivingChunks(file, { stallMs, stalled: importStalled })
  const chunks = keepingAlive(arriving, { target, keepAliveMs })
  const limits = { maxBytes: MAX_LINE_BYTES, tooLong: () => reader.tooLong(MAX_LINE_BYTES) }
  for await (const line of linesOf(chunks, limits)) {
    count++
    const row = reader.read(line)
    if (!row) continue
    const isFull = rows.length >= MAX_ROWS || bytes + line.length > MAX_BYTES || rows[0]?.kind !== row.kind
    if (isFull) await insert()
    rows.push(row)
    bytes += line.length
  }
  await insert()
  if (!reader.hasErrors()) await refuseReferences({ reader, target })
  reader.end()
  return count

  async function insert(): Promise<void> {
    const batch = rows
    rows = []
    bytes = 0
    const [first] = batch
    if (first && !reader.hasErrors()) {
      const refusal = await target.insert(
        first.kind,
        batch.map(({ text }) => text),
      )
      if (refusal) reader.refuse(batch[refusal.index]?.line ?? first.line, errorOf(refusal))
      const referring = batch.flatMap(({ referring: id, line }) => (id === undefined ? [] : [{ id, line }]))
      if (referring.length > 0) await target.addReferring(referring)
    }
  }
}

/** By time, because lines that are only checked are not inserted. */
async function* keepingAlive(
  chunks: AsyncIterable<Buffer>,
  { target, keepAliveMs }: Pick<ImportReading, 'target' | 'keepAliveMs'>,
): AsyncGenerator<Buffer> {
  let since = performance.now()
  for await (const chunk of chunks) {
    if (performance.now() - since >= keepAliveMs) {
      await target.keepAlive()
      since = performance.now()
    }
    yield chunk
  }
}

/** What can only be checked once all rows are there. */
async function refuseReferences({ reader, target }: Pick<ImportReading, 'reader' | 'target'>): Promise<void> {
  for (const { line, member, reason } of await target.findBadReferences())
    reader.refuse(line, { member, code: 'not_allowed', message: REFERENCES[reason] })
  const tasks = await target.listDependencies()
  const blockers = new Map(tasks.map(({ id, blockedBy }) => [id, blockedBy]))
  const [first] = findCycle(blockers, [...blockers.keys()]) ?? []
  const line = tasks.find(({ id }) => id === first)?.line
  if (line === undefined) return
  const message = 'makes a cycle, in which each task is blocked by the next'
  reader.refuse(line, { member: 'blockedBy', code: 'not_allowed', message })
}

const REFERENCES: Record<Awaited<ReturnType<ImportTarget['findBadReferences']>>[number]['reason'], string> = {
  no_task: 'must be a task that is not deleted',
  other_project: 'must be a task of the same project',
  merged: 'must be a task that is not merged itself',
  no_list: 'must be a list of the project',
}

type Refusal = NonNullable<Awaited<ReturnType<ImportTarget['insert']>>>

function errorOf({ reason, constraint }: Refusal): { code: string; message: string } {
  const rule = constraint === undefined ? '' : ` (${constraint})`
  return { code: 'not_allowed', message: `${MESSAGES[reason]}${rule}` }
}

const MESSAGES: Record<Refusal['reason'], string> = {
  duplicate: 'has an ID or a key of an earlier line',
  unknown_reference: 'refers to something that no earlier line has',
  invalid: 'has a value that the database does not accept',
}

/** What the service relies on, and no constraint of the database holds. */
function refuseDefaults(
  { defaults, withoutList, withoutProject }: Awaited<ReturnType<ImportTarget['complete']>>,
  line: number,
): void {
  const messages = [
    ...(defaults === 1 ? [] : ['must follow one project that is the default']),
    ...(withoutList === 0 ? [] : ['must follow a default list for each project']),
    ...(withoutProject === 0 ? [] : ['must follow all projects of each person']),
  ]
  if (messages.length === 0) return
  throw validationFailed(messages.map((message) => ({ path: `line.${line}`, code: 'not_allowed', message })))
}
