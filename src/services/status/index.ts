import { allows } from '../../domain/key-strength.ts'
import type { Operations } from '../../domain/operation.ts'
import type { Clock } from '../../lib/clock.ts'
import { everywhere, type Repositories } from '../../repositories/index.ts'
import type { ChangedPipe, EnvironmentPipe, PipeRow } from '../../repositories/pipes/index.ts'
import { redacted } from '../../repositories/redacted.ts'
import { COUNTED_HOURS, type Pipe, type Status, type StatusQuery } from '../../schemas/status.ts'
import type { Caller } from '../access.ts'
import { activityRow, SERVICE } from '../activity/row.ts'
import { requirePlace } from '../place.ts'
import type { AttemptBuffer } from './attempts.ts'

export const statusOperations = {
  list: { scope: 'tasks:read' },
} satisfies Operations<ReturnType<typeof statusService>>

interface StatusDeps {
  repos: Repositories
  clock: Pick<Clock, 'now' | 'newId'>
  attempts: Pick<AttemptBuffer, 'storeWith'>
  /** The identity provider of the environment. */
  environment: EnvironmentPipe | undefined
}

/** Pipes that are logged in one transaction, which locks them. */
const BATCH = 100

/** How everything does that the service receives and sends through. */
export function statusService({ repos, clock, attempts, environment }: StatusDeps) {
  const pipes = repos.pipes(environment)

  return {
    /**
     * Those in reach; those of the whole service, and what errors say, only for administrators.
     * @throws project_not_found
     */
    async list(caller: Caller, { kind: kinds, state: states, ...query }: StatusQuery): Promise<Status> {
      await requirePlace(repos.within(caller), query)
      const isAdmin = allows(caller.scopes, 'admin')
      const { rows, counts } = await pipes.list(caller, { ...query, kinds, states, ofService: isAdmin })
      return { data: rows.map((row) => toPipe(row, isAdmin)), counts, nextCursor: null }
    },

    /** Stores the attempts that this instance has counted. */
    flush: (): Promise<void> => attempts.storeWith((given) => redacted(() => pipes.add(given))),

    /** Logs which pipes have begun to fail, and which work again. */
    async logChanges(): Promise<void> {
      while ((await pipes.isAnyChanged()) && (await logSome()) === BATCH);
    },
  }

  async function logSome(): Promise<number> {
    return repos.transaction(async (repos) => {
      const changed = await repos.pipes(environment).takeChanged(BATCH)
      const now = clock.now()
      await repos.within(everywhere).activity.insert(changed.map((pipe) => changeRow(pipe, now)))
      return changed.length
    })
  }

  function changeRow({ isFailing, projectId, kind, id, name, errorCode }: ChangedPipe, now: Date) {
    const metadata = { kind, id, name, ...(isFailing && { code: errorCode }) }
    const type = isFailing ? 'pipe.failed' : 'pipe.recovered'
    return activityRow(clock, { now, type, actor: SERVICE, projectId, metadata })
  }
}

/** Why a source fails that the service has switched off. The error of its last delivery does not say so. */
const SOURCE_DISABLED = {
  errorCode: 'source_disabled',
  errorDetail:
    'The source was turned off because ten deliveries in a row took too long to render. Simplify its templates, then turn it on.',
}

function toPipe(row: PipeRow, isAdmin: boolean): Pipe {
  const { kind, id, name, projectId, state, lastSuccessAt, lastErrorAt } = row
  const isDisabled = kind === 'source' && row.isGivenUp
  const { errorCode, errorDetail } = isDisabled ? SOURCE_DISABLED : row
  const hours = Array.from({ length: COUNTED_HOURS }, () => ({ succeeded: 0, failed: 0 }))
  for (const { ago, ...counts } of row.hours) hours[COUNTED_HOURS - 1 - ago] = counts
  return {
    kind,
    id,
    name,
    projectId,
    state,
    lastSuccessAt: lastSuccessAt?.toISOString() ?? null,
    lastError: lastErrorAt && {
      at: lastErrorAt.toISOString(),
      code: errorCode ?? 'internal_error',
      detail: isAdmin ? errorDetail : null,
    },
    hours,
  }
}
