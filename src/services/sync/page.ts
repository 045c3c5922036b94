import type { HostLimits } from '../../clients/codehost.ts'
import type { CodehostItem } from '../../domain/codehost/item.ts'
import type { Checkpoint, SyncPosition } from '../../domain/codehost/progress.ts'
import { tallied } from '../../domain/codehost/tally.ts'
import { type ItemDecision, importItem, skipItem, updateFromItem } from '../../domain/codehost/task.ts'
import type { Clock } from '../../lib/clock.ts'
import { slicesBySize } from '../../lib/slices-by-size.ts'
import type { ConnectionRow } from '../../repositories/codehost/connections.ts'
import type { SyncRunRow } from '../../repositories/codehost/sync-runs.ts'
import type { BoundRepositories } from '../../repositories/index.ts'
import type { DestinationRow } from '../../repositories/lists.ts'
import { activityRow } from '../activity/row.ts'
import { tallyOf } from './run-view.ts'

/** The items of one response, and the progress of the run once they are written. */
export interface PageToWrite {
  items: CodehostItem[]
  checkpoint: Checkpoint | undefined
  /** Where the next incremental run resumes, if this page determines it. */
  position?: SyncPosition
  limits: HostLimits
}

interface PageWrite {
  clock: Clock
  run: SyncRunRow
  connection: ConnectionRow
  destination: DestinationRow
  page: PageToWrite
}

/** Writes a page in the transaction of a locked run: tasks, activity log, counts and checkpoint. */
export async function writePage(
  repos: BoundRepositories,
  { clock, run, connection, destination, page }: PageWrite,
): Promise<SyncRunRow> {
  const decisions = await decide(repos, { clock, connection, destination, items: page.items })
  for (const portion of slicesBySize(decisions, {
    maxSize: MAX_CHARACTERS,
    sizeOf: ({ row }) => row?.description?.length ?? 0,
  })) {
    await repos.syncedTasks.upsert(
      portion.flatMap(({ row }) => row ?? []),
      portion.flatMap((decision) => activityOf(clock, { connection, decision })),
    )
  }
  const seen = await repos.syncRuns.listSeen(
    run.id,
    decisions.map(({ number }) => number),
  )
  const { tally, outcomes } = tallied(tallyOf(run), {
    seen: new Map(seen.map(({ number, outcome }) => [number, outcome])),
    page: decisions,
  })
  await repos.syncRuns.saveSeen(outcomes.map((outcome) => ({ runId: run.id, ...outcome })))

  const change = {
    ...tally,
    checkpoint: page.checkpoint ?? null,
    rateLimit: rateLimitOf(page.limits),
    // A committed page is progress, so both counters restart.
    attempts: 0,
    limited: 0,
  }
  await repos.syncRuns.update(run.id, change)
  const repository = page.items.at(-1)?.repository ?? connection.repository
  const isRenamed = repository !== connection.repository
  if (page.position || isRenamed) {
    await repos.codehost.update(connection.id, {
      repository,
      ...(page.position && { position: page.position }),
    })
  }
  if (isRenamed) {
    const { id, projectId, apiUrl, repository: from } = connection
    const changes = { repository: { from, to: repository } }
    const about = { projectId, metadata: { connectionId: id, repository, apiUrl, changes } }
    const actor = { type: 'codehost' as const, id, name: repository }
    await repos.activity.insert([
      activityRow(clock, { now: clock.now(), type: 'connection.updated', actor, ...about }),
    ])
    await repos.configurationChanges.announceProject(projectId)
  }
  return { ...run, ...change }
}

/** The host's rate limit as a run shows it; null if the host sends none. */
export const rateLimitOf = ({ remaining, resetAt }: HostLimits) =>
  remaining === null && resetAt === null ? null : { remaining, resetAt: resetAt?.toISOString() ?? null }

async function decide(
  repos: BoundRepositories,
  {
    clock,
    connection: { id, projectId, repositoryId, repository: name },
    destination,
    items,
  }: { clock: Clock; connection: ConnectionRow; destination: DestinationRow; items: CodehostItem[] },
): Promise<ItemDecision[]> {
  const numbers = items.map(({ number }) => number)
  const rows = await repos.syncedTasks.listKnownForUpdate(projectId, { repositoryId, numbers })
  const known = new Map(rows.map((row) => [row.codehostNumber, row]))
  const unknown = numbers.filter((number) => !known.has(number))
  const purged = new Set(await repos.syncedTasks.listPurged(projectId, { repositoryId, numbers: unknown }))
  const now = clock.now()
  const actor = { type: 'codehost' as const, id, name }
  return items.map((item) => {
    const task = known.get(item.number)
    if (task) return updateFromItem(task, { item, now })
    if (purged.has(item.number)) return skipItem(item)
    return importItem(item, { id: clock.newId(now), now, destination, actor, repositoryId })
  })
}

/** A page is one statement unless its texts are long: a statement has its rows in memory several times. */
const MAX_CHARACTERS = 256 * 1024

function activityOf(
  clock: Clock,
  {
    connection: { id, repository: name },
    decision: { row, activities },
  }: { connection: ConnectionRow; decision: ItemDecision },
) {
  if (!row) return []
  const actor = { type: 'codehost' as const, id, name }
  return activities.map(({ type, metadata }) =>
    activityRow(clock, {
      now: row.updatedAt,
      type,
      actor,
      taskId: row.id,
      projectId: row.projectId,
      metadata: { ...metadata },
    }),
  )
}
