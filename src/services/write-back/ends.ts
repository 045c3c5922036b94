import type { HostAccess, Refusal, Unreachable } from '../../clients/codehost.ts'
import { judgeRefusal } from '../../domain/codehost/refusal.ts'
import {
  arrivalEnd,
  includesKind,
  judgeWriteRefusal,
  retryOf,
  type WriteError,
} from '../../domain/codehost/write-back.ts'
import type { Clock } from '../../lib/clock.ts'
import type { ConnectionRow } from '../../repositories/codehost/connections.ts'
import type { LeasedWrite, WriteRow } from '../../repositories/codehost/writes.ts'
import { type BoundRepositories, everywhere, inProject, type Repositories } from '../../repositories/index.ts'
import type { PipeName } from '../../repositories/pipes/index.ts'
import { activityRow } from '../activity/row.ts'
import type { LogFailure } from '../codehost/failures.ts'
import { tokenPauses } from '../codehost/token-pauses.ts'
import type { PipeRecorder } from '../recorder.ts'
import { markGone } from '../sync/items.ts'

/** A claimed write, with the number of its issue. */
export type ClaimedWrite = LeasedWrite & { number: number }

export interface WriteOf {
  write: ClaimedWrite
  connection: ConnectionRow
}

export const doneAt = (now: Date) => ({
  status: 'done' as const,
  finishedAt: now,
  leaseUntil: null,
  error: null,
})

/** Whether other writes with the token have to wait, too. */
export interface WriteOutcome {
  isPaused: boolean
  /** The request was canceled, and may still arrive. */
  mayArrive?: true
}

export const writePipe = ({ connection: { id } }: Pick<WriteOf, 'connection'>): PipeName => ({
  kind: 'write_back',
  id,
})

export const unreachableError = (reason: string): WriteError => ({
  code: 'codehost_unreachable',
  message: `The code host did not respond as expected: ${reason}`,
})

interface WriteEndsDeps {
  repos: Repositories
  clock: Clock
  pipes: PipeRecorder
  logFailure?: LogFailure | undefined
}

/** How writes end, or wait for their next attempt. */
export function writeEnds({ repos, clock, pipes, logFailure }: WriteEndsDeps) {
  const pauses = tokenPauses({ repos })
  return { whileLeased, release, deleteExcluded, retryLater, drop, dropGone, handle }

  /**
   * Locks project, connection, and task, in this order as everywhere, and gets the write as it is then. Does nothing if the
   * lease or the connection is lost.
   */
  async function whileLeased<T>(
    { write, connection: { id, projectId } }: WriteOf,
    work: (
      repos: BoundRepositories,
      locked: { write: ClaimedWrite; connection: ConnectionRow; isArchived: boolean },
    ) => Promise<T>,
  ): Promise<T | undefined> {
    return repos.within(inProject(projectId)).transaction(async (repos) => {
      const project = await repos.projects.findForUpdate(projectId)
      const connection = await repos.codehost.findForUpdate(projectId)
      if (connection?.id !== id) return undefined
      await repos.codehostWrites.lockTask(write.taskId)
      const present = await repos.codehostWrites.findLeased(write)
      if (!present) return undefined
      return work(repos, {
        write: { ...present, number: write.number },
        connection,
        isArchived: project?.archivedAt != null,
      })
    })
  }

  /** Changes a write and what its task shows of it, together. */
  async function change({ write, connection }: WriteOf, values: Partial<WriteRow>): Promise<void> {
    await repos.within(inProject(connection.projectId)).transaction(async ({ codehostWrites }) => {
      await codehostWrites.lockTask(write.taskId)
      await codehostWrites.update(write, values)
    })
  }

  /** Any worker can continue at once. */
  function release(about: WriteOf): Promise<void> {
    return change(about, { leaseUntil: null })
  }

  /**
   * Deletes a write that the setting of its connection excludes: the change that it is about had read the setting before it
   * was changed. The transaction that decides what is sent decides this, too.
   */
  async function deleteExcluded(
    { codehostWrites }: BoundRepositories,
    { write, connection: { writeBack } }: WriteOf,
  ): Promise<boolean> {
    if (includesKind(writeBack, write.kind)) return false
    await codehostWrites.delete(write)
    return true
  }

  function failedAttempt({ attempts, firstAttemptAt }: ClaimedWrite, now: Date) {
    const first = firstAttemptAt ?? now
    const nextAttemptAt = retryOf({ now, firstAttemptAt: first, attempts })
    return { nextAttemptAt, attempt: { attempts: attempts + 1, firstAttemptAt: first } }
  }

  /**
   * Tries again later, or fails after three days.
   * @param isSent whether something was sent, which may still arrive
   */
  async function retryLater(about: WriteOf & { isSent?: boolean }, error: WriteError): Promise<void> {
    const now = await databaseNow()
    const { nextAttemptAt, attempt } = failedAttempt(about.write, now)
    const arrival = about.isSent ? { arrivesUntil: arrivalEnd(now) } : {}
    if (!nextAttemptAt) return fail(about, { error, ...arrival })
    pipes.failed(writePipe(about), error)
    await change(about, { ...attempt, ...arrival, nextAttemptAt, leaseUntil: null, error })
  }

  async function fail(
    { write, connection }: WriteOf,
    { error, isUnread = false, ...arrival }: { error: WriteError; isUnread?: boolean; arrivesUntil?: Date },
  ): Promise<void> {
    const isFailed = await whileLeased({ write, connection }, async (repos, { write, connection }) => {
      const end = {
        status: 'failed',
        finishedAt: await repos.codehostWrites.now(),
        leaseUntil: null,
      } as const
      const { isUnread: _, ...payload } = write.payload
      await repos.codehostWrites.update(write, {
        ...end,
        ...arrival,
        error,
        payload: isUnread ? { ...payload, isUnread } : payload,
      })
      await log(repos, { type: 'task.write_back_failed', write, connection, error })
      return true
    })
    const { taskId, kind } = write
    pipes.failed(writePipe({ connection }), error)
    if (isFailed)
      logFailure?.({ ...error, projectId: connection.projectId, taskId, kind }, 'write-back failed')
  }

  /** Gives up a leased write, because the code host has changed what it is about. */
  async function drop(
    repos: BoundRepositories,
    { write, connection, error }: WriteOf & { error: WriteError },
  ): Promise<void> {
    await repos.codehostWrites.update(write, { ...doneAt(await repos.codehostWrites.now()), error })
    await log(repos, { type: 'task.write_back_dropped', write, connection, error })
    // The code host has responded.
    pipes.succeeded(writePipe({ connection }))
  }

  async function dropGone(
    { write, connection }: WriteOf,
    sourceState: 'transferred' | 'deleted',
  ): Promise<void> {
    await whileLeased({ write, connection }, async (repos, { write, connection }) => {
      await markGone(repos, { clock, connection, item: { number: write.number, sourceState } })
      const message = `The issue was ${sourceState} at the code host.`
      await drop(repos, { write, connection, error: { code: `issue_${sourceState}`, message } })
    })
  }

  async function handle(
    response: Refusal | Unreachable,
    { write, connection, access, isSent = false }: WriteOf & { access: HostAccess; isSent?: boolean },
  ): Promise<WriteOutcome> {
    if (response.outcome === 'unreachable') {
      await retryLater({ write, connection, isSent }, unreachableError(response.reason))
      return { isPaused: true }
    }
    const now = await databaseNow()
    const judge = isSent ? judgeWriteRefusal : judgeRefusal
    const judged = judge(response, { now, access, limitedBefore: write.attempts })
    if (judged.verdict === 'fail') {
      const { code, message } = judged
      await fail({ write, connection }, { error: { code, message }, isUnread: !isSent })
      return { isPaused: false }
    }
    await pauses.pause(access, { now, retryAt: judged.retryAt })
    const message = `The code host limits requests until ${judged.retryAt.toISOString()}.`
    const error = { code: 'rate_limited', message }
    // When it is due again is up to the token.
    const { nextAttemptAt, attempt } = failedAttempt(write, now)
    if (nextAttemptAt) await change({ write, connection }, { ...attempt, leaseUntil: null, error })
    else await fail({ write, connection }, { error })
    return { isPaused: true }
  }

  function databaseNow(): Promise<Date> {
    return repos.within(everywhere).codehostWrites.now()
  }

  async function log(
    repos: BoundRepositories,
    {
      type,
      write: { taskId, kind },
      connection: { id, projectId, repository: name },
      error,
    }: WriteOf & { type: string; error: WriteError },
  ): Promise<void> {
    const actor = { type: 'codehost' as const, id, name }
    const about = { taskId, projectId, message: error.message, metadata: { kind, error } }
    await repos.activity.insert([activityRow(clock, { now: clock.now(), type, actor, ...about })])
  }
}
