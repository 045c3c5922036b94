import type { CodeHost, HostAccess, Refusal, Unreachable } from '../../clients/codehost.ts'
import { type CodehostComment, commentOf, commentsOf } from '../../domain/codehost/comment.ts'
import { itemOf } from '../../domain/codehost/item.ts'
import { postedIdIn } from '../../domain/codehost/posted-comment.ts'
import { includesKind, REQUEST_MS, type WriteError } from '../../domain/codehost/write-back.ts'
import type { Clock } from '../../lib/clock.ts'
import type { ConnectionRow } from '../../repositories/codehost/connections.ts'
import type { Snapshot } from '../../repositories/codehost/stored-since.ts'
import type { TokenLease } from '../../repositories/codehost/write-limits.ts'
import { everywhere, inProject, type Repositories } from '../../repositories/index.ts'
import { isFailure, type LogFailure } from '../codehost/failures.ts'
import { readComment, readItem } from '../codehost/reading.ts'
import type { PipeRecorder } from '../recorder.ts'
import { writeItems } from '../sync/items.ts'
import { acknowledge, type HostChange, keepPosted, nextComment, nextState } from './changes.ts'
import {
  type ClaimedWrite,
  doneAt,
  unreachableError,
  type WriteOutcome,
  writeEnds,
  writePipe,
} from './ends.ts'

export interface SendingDeps {
  repos: Repositories
  clock: Clock
  pipes: PipeRecorder
  logFailure?: LogFailure | undefined
  host: Pick<
    CodeHost,
    | 'readItem'
    | 'readComment'
    | 'readPage'
    | 'latestUrl'
    | 'changeIssue'
    | 'createComment'
    | 'changeComment'
    | 'deleteComment'
    | 'commentsOfUrl'
  >
}

interface Sending {
  connection: ConnectionRow
  access: HostAccess
  lease: TokenLease
  signal: AbortSignal
}

interface SentChange {
  connection: ConnectionRow
  change: HostChange
  response: WriteResponse
}

interface WriteResponse {
  outcome: string
  item?: unknown
  comment?: unknown
}

/** A change that may be sent until the lease of its write ends. */
interface DecidedWrite {
  change: HostChange
  write: ClaimedWrite
}

/** Longer than a request and those before it may take. If a worker is killed, another continues then. */
export const LEASE_MS = 2 * 60_000

/** An issue has far fewer comments. */
const MAX_COMMENT_PAGES = 100

const UNEXPECTED: WriteError = { code: 'internal_error', message: 'An unexpected error occurred.' }

/** Of a comment that can be read. */
const NOT_WRITABLE: Omit<Refusal, 'limits'> = {
  outcome: 'refused',
  status: 404,
  message: '',
  retryAfter: null,
  singleSignOn: null,
}

const COMMENT_DELETED: WriteError = {
  code: 'comment_deleted',
  message: 'The comment was deleted at the code host.',
}

interface GuardedWork<T> {
  sending: Sending
  isSent?: boolean
  isKept?: boolean
  work(): Promise<T>
}

interface ReadState {
  sending: Sending
  item: unknown
  asOf: Snapshot
  found: CodehostComment | undefined
}

/**
 * Sends single writes. What is sent is stored before, and the code host is read before each attempt, so a worker can be
 * killed at any step: the next one sees what has arrived.
 */
export function writeSender({ repos, clock, host, pipes, logFailure }: SendingDeps) {
  const { codehostWrites, syncedTasks } = repos.within(everywhere)
  const ends = writeEnds({ repos, clock, pipes, logFailure })
  const { whileLeased, release, deleteExcluded, retryLater, drop, dropGone, handle } = ends

  return {
    /** Sends a write, unless there is nothing to change any more. */
    async one(write: ClaimedWrite, sending: Sending): Promise<WriteOutcome> {
      const decided = await guarded(write, { sending, work: () => prepare(write, sending) })
      if ('isPaused' in decided) return decided
      // It may arrive after the request was canceled: whoever looks for it waits until the lease ends.
      const isKept = decided.change.about === 'new comment'
      const work = () => transmit(decided, sending)
      const sent = await guarded(decided.write, { sending, isSent: true, isKept, work })
      return sending.signal.aborted ? { ...sent, mayArrive: true } : sent
    },

    /** Postpones or fails the writes of a connection that cannot be used. */
    async refuseAll(
      connection: ConnectionRow,
      { error, leaseMs }: { error: WriteError; leaseMs: number },
    ): Promise<void> {
      const { codehostWrites } = repos.within(inProject(connection.projectId))
      const claim = () => codehostWrites.claim({ connectionIds: [connection.id], leaseMs })
      for (let write = await claim(); write; write = await claim()) {
        await retryLater({ write, connection }, error)
      }
    },
  }

  /** Ends or postpones the lease if the work fails; with `isKept`, not if it is aborted. */
  async function guarded<T>(
    write: ClaimedWrite,
    { sending: { connection, signal }, isSent = false, isKept = false, work }: GuardedWork<T>,
  ): Promise<T | WriteOutcome> {
    try {
      return await work()
    } catch (error) {
      if (!signal.aborted) {
        await retryLater({ write, connection, isSent }, UNEXPECTED)
        throw error
      }
      if (!isKept) await release({ write, connection })
      return { isPaused: true }
    }
  }

  /** Reads the code host; returns what is to be sent now, if anything. */
  async function prepare(write: ClaimedWrite, sending: Sending): Promise<DecidedWrite | WriteOutcome> {
    const { connection, access, signal } = sending
    const { repositoryId, writeBack } = connection
    // Without a request: it may be off because the code host refuses them.
    const isExcluded =
      !includesKind(writeBack, write.kind) &&
      (await whileLeased({ write, connection }, (repos, { write, connection }) =>
        deleteExcluded(repos, { write, connection }),
      ))
    if (isExcluded) return { isPaused: false }
    const asOf = await syncedTasks.snapshot()
    const seen = await readItem(host, { access, repositoryId, number: write.number, signal })
    if (isFailure(seen)) return handle(seen, { write, ...sending })
    if (seen.outcome !== 'present') {
      await dropGone({ write, connection }, seen.outcome)
      return { isPaused: false }
    }
    const found = await findPosted(write, sending)
    if (found && 'outcome' in found) return handle(found, { write, ...sending })
    const decided = await decide(write, { sending, item: seen.item, asOf, found })
    if (!decided || (await isInTime(decided.write))) return decided ?? { isPaused: false }
    await release({ write: decided.write, connection })
    return { isPaused: true }
  }

  /** Whether a request ends before the lease does. The process may have been suspended since it was decided. */
  async function isInTime({ leaseUntil }: ClaimedWrite): Promise<boolean> {
    return leaseUntil.getTime() - (await codehostWrites.now()).getTime() > REQUEST_MS
  }

  async function transmit({ change, write }: DecidedWrite, sending: Sending): Promise<WriteOutcome> {
    const response = await request(change, { write, sending })
    if (isFailure(response)) return handle(response, { write, ...sending, isSent: true })
    const refused = response.outcome === 'missing' && (await refusalOfComment(change, { write, sending }))
    if (refused) return handle(refused, { write, ...sending, isSent: true })
    await finish(write, { connection: sending.connection, change, response })
    return { isPaused: false }
  }

  /**
   * Why a comment that was missing when it was written could not be; undefined if it was deleted. To credentials that may
   * not write, it is missing, too.
   */
  async function refusalOfComment(
    change: HostChange,
    { write: { number }, sending: { connection, access, signal } }: { write: ClaimedWrite; sending: Sending },
  ): Promise<Refusal | Unreachable | undefined> {
    if (!('externalId' in change)) return undefined
    const { externalId } = change
    const { repositoryId } = connection
    const comment = await readComment(host, { access, repositoryId, number, externalId, signal })
    if (isFailure(comment)) return comment
    return comment.outcome === 'present' ? { ...NOT_WRITABLE, limits: comment.limits } : undefined
  }

  /** The comment that an earlier attempt has written, if its response was lost. */
  async function findPosted(
    { commentId, number, payload }: ClaimedWrite,
    { connection: { repositoryId }, access, signal }: Sending,
  ): Promise<CodehostComment | Refusal | Unreachable | undefined> {
    const { since } = payload
    if (since === undefined) return undefined
    let url: string | null = host.commentsOfUrl(access.apiUrl, { repositoryId, number, since })
    for (let pages = 0; url !== null; pages++) {
      if (pages === MAX_COMMENT_PAGES)
        return { outcome: 'unreachable', reason: 'The list of comments does not end.' }
      const page = await host.readPage(access, { url, signal })
      if (page.outcome !== 'page') return page.outcome === 'unchanged' ? undefined : page
      const comments = commentsOf(page.items)
      if (!comments) return { outcome: 'unreachable', reason: 'The response is not a list of comments.' }
      const found = comments.find(({ body }) => postedIdIn(body) === commentId)
      if (found) return found
      url = page.next
    }
    return undefined
  }

  /** Takes the state of the code host; returns what has to be changed there, and stores what is sent. */
  async function decide(
    write: ClaimedWrite,
    { sending: { connection, lease }, item: raw, asOf, found }: ReadState,
  ): Promise<DecidedWrite | undefined> {
    const item = itemOf(raw)
    if (item?.number !== write.number) {
      await retryLater({ write, connection }, unreachableError('The response is not the issue.'))
      return undefined
    }
    return whileLeased({ write, connection }, async (repos, { write, connection, isArchived }) => {
      const wait = () => repos.codehostWrites.update(write, { leaseUntil: null }).then(() => undefined)
      if (isArchived) return wait()
      if (await deleteExcluded(repos, { write, connection })) return undefined
      const [decision] = await writeItems(repos, { clock, connection, items: [item], asOf })
      if (decision?.isUncertain) return wait()
      const next =
        write.kind === 'state'
          ? await nextState(repos, { write, item })
          : await nextComment(repos, { write, item, found })
      const now = await repos.codehostWrites.now()
      if (!next) {
        await repos.codehostWrites.update(write, { ...doneAt(now), payload: {} })
        pipes.succeeded(writePipe({ connection }))
        return undefined
      }
      // Reading the code host may have taken most of both leases.
      if (!(await repos.codehostWriteLimits.reserve(lease, LEASE_MS))) return wait()
      const leaseUntil = new Date(now.getTime() + LEASE_MS)
      await repos.codehostWrites.update(write, { payload: next.payload, leaseUntil })
      return { change: next.change, write: { ...write, leaseUntil } }
    })
  }

  function request(
    change: HostChange,
    { write: { number }, sending }: { write: ClaimedWrite; sending: Sending },
  ) {
    const { connection, access, signal } = sending
    const about = { repositoryId: connection.repositoryId, signal }
    switch (change.about) {
      case 'state':
        return host.changeIssue(access, { ...about, number, ...change })
      case 'new comment':
        return host.createComment(access, { ...about, number, ...change })
      case 'comment':
        return host.changeComment(access, { ...about, ...change })
      case 'deletion':
        return host.deleteComment(access, { ...about, ...change })
    }
  }

  /** Takes the response of a write. If what it is about was changed again meanwhile, the write stays pending. */
  async function finish(write: ClaimedWrite, { connection, change, response }: SentChange): Promise<void> {
    const outcome = await whileLeased({ write, connection }, async (repos, { write, connection }) => {
      if (response.outcome === 'missing' && change.about === 'comment') {
        await drop(repos, { write, connection, error: COMMENT_DELETED })
        return 'done'
      }
      const about = { clock, connection, write, change, response: response.item ?? response.comment }
      const outcome = await acknowledge(repos, about)
      const now = await repos.codehostWrites.now()
      if (outcome === 'done') await repos.codehostWrites.update(write, { ...doneAt(now), payload: {} })
      else if (outcome !== 'invalid') {
        const first = { attempts: 0, firstAttemptAt: null, nextAttemptAt: now }
        const again = { payload: outcome.again, leaseUntil: null, ...first }
        await repos.codehostWrites.update(write, again)
      }
      return outcome
    })
    if (outcome === 'done' || typeof outcome === 'object') pipes.succeeded(writePipe({ connection }))
    if (outcome === undefined && change.about === 'new comment') {
      const posted = commentOf(response.comment)
      if (posted) await keep(write, { connection, sent: change.body, posted })
    }
    // It has arrived, which the next attempt reads.
    if (outcome === 'invalid') {
      await retryLater({ write, connection }, unreachableError('The response is not what was written.'))
    }
  }

  /** What was posted although its write is no longer this worker's. */
  async function keep(
    write: ClaimedWrite,
    {
      connection: { projectId, repositoryId },
      ...comment
    }: { connection: ConnectionRow; sent: string; posted: CodehostComment },
  ): Promise<void> {
    await repos.within(inProject(projectId)).transaction(async (repos) => {
      await repos.projects.findForUpdate(projectId)
      const present = await repos.codehost.findForUpdate(projectId)
      await repos.codehostWrites.lockTask(write.taskId)
      const connection = present?.repositoryId === repositoryId ? present : undefined
      await keepPosted(repos, { clock, connection, write, ...comment })
    })
  }
}
