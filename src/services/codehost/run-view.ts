import type { Tally } from '../../domain/codehost/tally.ts'
import type { ConnectionWithRun } from '../../repositories/codehost/connections.ts'
import type { SyncRunRow } from '../../repositories/codehost/sync-runs.ts'
import type { Connection } from '../../schemas/codehost.ts'
import type { Project } from '../../schemas/project.ts'
import type { SyncRun } from '../../schemas/sync-run.ts'

/** Converts a row to its API type. */
export function toSyncRun(row: SyncRunRow): SyncRun {
  const { fetched, counts, skipped } = tallyOf(row)
  return {
    id: row.id,
    projectId: row.projectId,
    status: row.status,
    mode: row.mode,
    fetched,
    total: row.total,
    issues: counts.issues,
    pullRequests: counts.pullRequests,
    createdDone: counts.createdDone ?? 0,
    comments: counts.comments ?? { created: 0, updated: 0, deleted: 0 },
    skipped,
    gone: row.gone,
    error: asError(row.error),
    retryAt: row.retryAt?.toISOString() ?? null,
    rateLimit: asRateLimit(row.rateLimit),
    startedAt: row.startedAt?.toISOString() ?? null,
    finishedAt: row.finishedAt?.toISOString() ?? null,
  }
}

/** A connection without the URL of its webhook, which depends on how the service is reached. */
export type ConnectionView = Omit<Connection, 'webhook'> & { webhook: Omit<Connection['webhook'], 'url'> }

export const toConnection = (row: ConnectionWithRun, lastDeliveryAt: Date | undefined): ConnectionView => ({
  id: row.id,
  projectId: row.projectId,
  repository: row.repository,
  apiUrl: row.apiUrl,
  hasToken: row.token !== null,
  app: row.app && { appId: row.app.appId, installationId: row.app.installationId },
  listId: row.listId,
  schedule: row.schedule,
  writeBack: row.writeBack,
  comments: row.comments,
  nextRunAt: row.nextRunAt?.toISOString() ?? null,
  webhook: {
    hasSecret: row.webhookSecret !== null,
    lastDeliveryAt: lastDeliveryAt?.toISOString() ?? null,
  },
  connectedAt: row.connectedAt.toISOString(),
  updatedAt: row.updatedAt.toISOString(),
  lastRun: row.lastRun && toSyncRun(row.lastRun),
})

/** The connection as a member of a project. */
export const toProjectCodehost = (row: ConnectionWithRun): NonNullable<Project['codehost']> => ({
  repository: row.repository,
  apiUrl: row.apiUrl,
  connectedAt: row.connectedAt.toISOString(),
  lastRun: row.lastRun && toSyncRun(row.lastRun),
})

/** Cast: only `sync/page.ts` writes these columns, from a tally. */
export const tallyOf = ({ fetched, counts, skipped }: Pick<SyncRunRow, 'fetched' | 'counts' | 'skipped'>) =>
  ({ fetched, counts, skipped }) as Tally

/** Casts: only `run-end.ts` and `sync/page.ts` write these columns. */
const asError = (json: unknown) => json as SyncRun['error']
const asRateLimit = (json: unknown) => json as SyncRun['rateLimit']
