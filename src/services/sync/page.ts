import type { HostLimits } from '../../clients/codehost.ts'
import type { CodehostComment } from '../../domain/codehost/comment.ts'
import type { CodehostItem } from '../../domain/codehost/item.ts'
import type { Checkpoint, SyncPosition } from '../../domain/codehost/progress.ts'
import { tallied, withComments } from '../../domain/codehost/tally.ts'
import type { Clock } from '../../lib/clock.ts'
import type { ConnectionRow } from '../../repositories/codehost/connections.ts'
import type { Snapshot } from '../../repositories/codehost/stored-since.ts'
import type { SyncRunRow } from '../../repositories/codehost/sync-runs.ts'
import type { BoundRepositories } from '../../repositories/index.ts'
import { tallyOf } from '../codehost/run-view.ts'
import { deleteComments, writeComments } from './comments.ts'
import { saveName, writeItems } from './items.ts'

/** The items of one response, and the progress of the run once they are written. */
export interface PageToWrite {
  items: CodehostItem[]
  /** Before they were requested. */
  asOf?: Snapshot | undefined
  checkpoint: Checkpoint | undefined
  /** Where the run continues if they have to be requested again. */
  again?: Checkpoint
  /** Where the next incremental run resumes, if this page determines it. */
  position?: SyncPosition
  limits: HostLimits
  comments?: {
    comments: CodehostComment[]
    asOf?: Snapshot
    /** Ids of comments that no longer exist. */
    gone: string[]
    /** Like the position of items. */
    position?: SyncPosition
  }
}

interface PageWrite {
  clock: Clock
  run: SyncRunRow
  connection: ConnectionRow
  page: PageToWrite
}

/** Writes a page in the transaction of a locked run: tasks, activity log, counts and checkpoint. */
export async function writePage(
  repos: BoundRepositories,
  { clock, run, connection, page }: PageWrite,
): Promise<SyncRunRow> {
  const decided = await writeItems(repos, { clock, connection, items: page.items, asOf: page.asOf })
  const decisions = decided.filter(({ isUncertain }) => !isUncertain)
  let isAgain = decisions.length < decided.length
  const seen = await repos.syncRuns.listSeen(
    run.id,
    decisions.map(({ number }) => number),
  )
  const { tally, outcomes } = tallied(tallyOf(run), {
    seen: new Map(seen.map(({ number, outcome }) => [number, outcome])),
    page: decisions,
  })
  await repos.syncRuns.saveSeen(outcomes.map((outcome) => ({ runId: run.id, ...outcome })))

  const { comments } = page
  if (comments) {
    const decided = await writeComments(repos, { clock, connection, ...comments })
    const written = decided.filter(({ isUncertain }) => !isUncertain)
    isAgain ||= written.length < decided.length
    const gone = await deleteComments(repos, { clock, connection, externalIds: comments.gone })
    tally.counts.comments = withComments(tally.counts.comments, { written, gone: gone.length })
    const { position } = comments
    if (position && !isAgain) await repos.codehost.update(connection.id, { commentsPosition: position })
  }

  const change = {
    ...tally,
    checkpoint: (isAgain ? page.again : page.checkpoint) ?? null,
    rateLimit: rateLimitOf(page.limits),
    // A committed page is progress, so both counters restart.
    attempts: 0,
    limited: 0,
  }
  await repos.syncRuns.update(run.id, change)
  if (page.position && !isAgain) await repos.codehost.update(connection.id, { position: page.position })
  const repository = page.items.at(-1)?.repository ?? connection.repository
  await saveName(repos, { clock, connection, repository })
  return { ...run, ...change }
}

/** The host's rate limit as a run shows it; null if the host sends none. */
export const rateLimitOf = ({ remaining, resetAt }: HostLimits) =>
  remaining === null && resetAt === null ? null : { remaining, resetAt: resetAt?.toISOString() ?? null }
