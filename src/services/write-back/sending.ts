import type { HostAccess, Refusal, Unreachable } from '../../clients/codehost.ts'
import { itemOf } from '../../domain/codehost/item.ts'
import {
  judgeWriteRefusal,
  reasonFor,
  retryOf,
  stateFor,
  type WriteError,
} from '../../domain/codehost/write-back.ts'
import type { ConnectionRow } from '../../repositories/codehost/connections.ts'
import type { LeasedWrite } from '../../repositories/codehost/writes.ts'
import type { BoundRepositories } from '../../repositories/index.ts'
import { activityRow } from '../activity/row.ts'
import { markGone, writeItems } from '../sync/items.ts'
import type { OutboxDeps } from './outbox.ts'

/** A claimed write, with the number of its issue. */
type Claimed = LeasedWrite & { number: number }

interface Sending {
  connection: ConnectionRow
  access: HostAccess
  tokenKey: string
  signal: AbortSignal
}

/** What a write has to change at the code host now. */
interface Change {
  state: 'open' | 'closed'
  reason: 'completed' | 'not_planned' | 'duplicate'
}

/**
 * Sends single writes. What is sent is stored before, and the state of the code host is read before each attempt, so a
 * worker can be killed at any step: the next one sees what has arrived.
 */
export function writeSender({ repos, clock, host }: Omit<OutboxDeps, 'vault'>) {
  return {
    /** Sends a write, unless there is nothing to change any more. Returns whether others have to wait, too. */
    async one(write: Claimed, sending: Sending): Promise<{ isPaused: boolean }> {
      const { connection, access, signal } = sending
      const about = { repositoryId: connection.repositoryId, number: write.number, signal }
      try {
        const seen = await host.readItem(access, about)
        if (seen.outcome === 'refused' || seen.outcome === 'unreachable') {
          return await handle(seen, { write, sending })
        }
        if (seen.outcome !== 'present') {
          await dropGone(write, { connection, sourceState: seen.outcome })
          return { isPaused: false }
        }
        const change = await decide(write, { sending, item: seen.item })
        if (!change) return { isPaused: false }
        const response = await host.changeIssue(access, { ...about, ...change })
        if (response.outcome !== 'changed') return await handle(response, { write, sending })
        await acknowledge(write, { connection, item: response.item })
        return { isPaused: false }
      } catch (error) {
        if (!signal.aborted) {
          await retryLater(write, { connection, error: UNEXPECTED })
          throw error
        }
        // Another instance can continue at once.
        const { codehostWrites } = repos.within({ projectId: connection.projectId })
        await codehostWrites.update(write, { leaseUntil: null })
        return { isPaused: true }
      }
    },

    /** Postpones or fails a write of a connection that cannot be used. */
    async refuseAll(
      connection: ConnectionRow,
      { error, leaseMs }: { error: WriteError; leaseMs: number },
    ): Promise<void> {
      const { codehostWrites } = repos.within({ projectId: connection.projectId })
      const claim = () => codehostWrites.claim({ connectionIds: [connection.id], now: clock.now(), leaseMs })
      for (let write = await claim(); write; write = await claim()) {
        await retryLater(write, { connection, error })
      }
    },
  }

  /** Takes the state of the code host; returns what has to be changed there, and stores that it is sent. */
  async function decide(
    write: Claimed,
    { sending, item: raw }: { sending: Sending; item: unknown },
  ): Promise<Change | undefined> {
    const { connection, tokenKey } = sending
    const item = itemOf(raw)
    if (item?.number !== write.number) {
      await retryLater(write, { connection, error: unreachableError('The response is not the issue.') })
      return undefined
    }
    return whileLeased({ write, connection }, async (repos, { connection, isArchived }) => {
      const now = clock.now()
      const wait = () => repos.codehostWrites.update(write, { leaseUntil: null }).then(() => undefined)
      if (isArchived) return wait()
      await writeItems(repos, { clock, connection, items: [item] })
      const task = await repos.syncedTasks.findState(write.taskId)
      const state = task && stateFor(task)
      if (!task || state === undefined || state === task.codehostState) {
        await repos.codehostWrites.update(write, doneAt(now))
        return undefined
      }
      if (!(await repos.codehostWriteLimits.reserve(tokenKey, now))) return wait()
      await repos.codehostWrites.update(write, { payload: { sent: state, sentAt: now.toISOString() } })
      return { state, reason: reasonFor(task) }
    })
  }

  /** Takes the response of a write. If the task was changed again meanwhile, the write stays pending. */
  async function acknowledge(
    write: Claimed,
    { connection, item: raw }: { connection: ConnectionRow; item: unknown },
  ): Promise<void> {
    const item = itemOf(raw)
    // It has arrived, and the next attempt reads it.
    if (item?.number !== write.number) {
      return retryLater(write, { connection, error: unreachableError('The response is not the issue.') })
    }
    await whileLeased({ write, connection }, async (repos, { connection }) => {
      await writeItems(repos, { clock, connection, items: [item] })
      const now = clock.now()
      const task = await repos.syncedTasks.findState(write.taskId)
      const isWritten = !task || stateFor(task) === task.codehostState
      const again = { payload: {}, leaseUntil: null, nextAttemptAt: now }
      await repos.codehostWrites.update(write, isWritten ? doneAt(now) : again)
    })
  }

  async function dropGone(
    write: Claimed,
    { connection, sourceState }: { connection: ConnectionRow; sourceState: 'transferred' | 'deleted' },
  ): Promise<void> {
    await whileLeased({ write, connection }, async (repos, { connection }) => {
      await markGone(repos, { clock, connection, item: { number: write.number, sourceState } })
      const message = `The issue was ${sourceState} at the code host.`
      await drop(repos, { write, connection, error: { code: `issue_${sourceState}`, message } })
    })
  }

  async function drop(
    repos: BoundRepositories,
    { write, connection, error }: { write: Claimed; connection: ConnectionRow; error: WriteError },
  ): Promise<void> {
    const now = clock.now()
    await repos.codehostWrites.update(write, { ...doneAt(now), error })
    await log(repos, { type: 'task.write_back_dropped', write, connection, error })
  }

  async function handle(
    response: Refusal | Unreachable,
    { write, sending: { connection, access, tokenKey } }: { write: Claimed; sending: Sending },
  ): Promise<{ isPaused: boolean }> {
    if (response.outcome === 'unreachable') {
      await retryLater(write, { connection, error: unreachableError(response.reason) })
      return { isPaused: true }
    }
    const judged = judgeWriteRefusal(response, { now: clock.now(), access, limitedBefore: write.attempts })
    if (judged.verdict === 'fail') {
      const { code, message } = judged
      await fail(write, { connection, error: { code, message } })
      return { isPaused: false }
    }
    const { codehostWrites, codehostWriteLimits } = repos.within({ projectId: connection.projectId })
    await codehostWriteLimits.pause(tokenKey, judged.retryAt)
    const message = `The code host limits requests until ${judged.retryAt.toISOString()}.`
    const error = { code: 'rate_limited', message }
    await codehostWrites.update(write, { leaseUntil: null, attempts: write.attempts + 1, error })
    return { isPaused: true }
  }

  async function retryLater(
    write: Claimed,
    { connection, error }: { connection: ConnectionRow; error: WriteError },
  ): Promise<void> {
    const nextAttemptAt = retryOf({ ...write, now: clock.now() })
    if (!nextAttemptAt) return fail(write, { connection, error })
    const change = { leaseUntil: null, attempts: write.attempts + 1, nextAttemptAt, error }
    await repos.within({ projectId: connection.projectId }).codehostWrites.update(write, change)
  }

  async function fail(
    write: Claimed,
    { connection, error }: { connection: ConnectionRow; error: WriteError },
  ): Promise<void> {
    await whileLeased({ write, connection }, async (repos, { connection }) => {
      const failed = { status: 'failed' as const, finishedAt: clock.now(), leaseUntil: null, error }
      await repos.codehostWrites.update(write, failed)
      await log(repos, { type: 'task.write_back_failed', write, connection, error })
    })
  }

  async function log(
    repos: BoundRepositories,
    {
      type,
      write: { taskId, kind },
      connection: { id, projectId, repository: name },
      error,
    }: { type: string; write: Claimed; connection: ConnectionRow; error: WriteError },
  ): Promise<void> {
    const actor = { type: 'codehost' as const, id, name }
    const about = { taskId, projectId, message: error.message, metadata: { kind, error } }
    await repos.activity.insert([activityRow(clock, { now: clock.now(), type, actor, ...about })])
  }

  /** Locks project and connection, in this order as everywhere. Does nothing if the lease or the connection is lost. */
  async function whileLeased<T>(
    { write, connection: { id, projectId } }: { write: Claimed; connection: ConnectionRow },
    work: (
      repos: BoundRepositories,
      locked: { connection: ConnectionRow; isArchived: boolean },
    ) => Promise<T>,
  ): Promise<T | undefined> {
    return repos.within({ projectId }).transaction(async (repos) => {
      const project = await repos.projects.findForUpdate(projectId)
      const connection = await repos.codehost.findForUpdate(projectId)
      if (connection?.id !== id || !(await repos.codehostWrites.isOurs(write))) return undefined
      return work(repos, { connection, isArchived: project?.archivedAt != null })
    })
  }
}

const doneAt = (now: Date) => ({
  status: 'done' as const,
  finishedAt: now,
  leaseUntil: null,
  error: null,
  payload: {},
})

const unreachableError = (reason: string): WriteError => ({
  code: 'codehost_unreachable',
  message: `The code host did not respond as expected: ${reason}`,
})

const UNEXPECTED: WriteError = { code: 'internal_error', message: 'An unexpected error occurred.' }
