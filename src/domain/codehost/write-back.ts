import type { StoredTask } from '../task.ts'
import type { CodehostItem } from './item.ts'
import { type HostRefusal, judgeRefusal } from './refusal.ts'

/** What changes here are written to the code host; `comments` includes the state. */
export type WriteBack = 'off' | 'state' | 'comments'

/** The connection of a task's project, as far as changes of the task depend on it. */
export interface TaskConnection {
  id: string
  repositoryId: number
  writeBack: WriteBack
}

/** Why something was not written, or not yet. */
export interface WriteError {
  code: string
  message: string
}

type CodehostTask = Pick<
  StoredTask,
  'source' | 'codehostRepositoryId' | 'codehostKind' | 'codehostState' | 'sourceState' | 'closedReason'
>

/** Whether the task is of the repository that its project is connected to. */
export const isConnected = (
  { source, codehostRepositoryId }: Pick<StoredTask, 'source' | 'codehostRepositoryId'>,
  connection: Pick<TaskConnection, 'repositoryId'> | undefined,
): connection is TaskConnection =>
  source === 'codehost' && connection !== undefined && codehostRepositoryId === connection.repositoryId

/** Whether changes of the task's status are written: of issues only, because pull requests belong to the code host. */
export const writesState = (
  task: CodehostTask,
  connection: TaskConnection | undefined,
): connection is TaskConnection =>
  isConnected(task, connection) &&
  connection.writeBack !== 'off' &&
  task.codehostKind === 'issue' &&
  task.sourceState === 'present'

/** Whether public comments on the task are written; on pull requests, too. */
export const writesComments = (
  task: Pick<StoredTask, 'source' | 'codehostRepositoryId' | 'sourceState'>,
  connection: TaskConnection | undefined,
): connection is TaskConnection =>
  isConnected(task, connection) && connection.writeBack === 'comments' && task.sourceState === 'present'

/** Whether it is closed at the code host, as the last sync has read it. */
export const isClosedThere = (task: CodehostTask, connection: TaskConnection | undefined) =>
  isConnected(task, connection) && task.codehostState === 'closed' && task.sourceState === 'present'

/** Whether it stays done here because it is closed at the code host, and reopening it is not written there. */
export const isClosedAtCodehost = (task: CodehostTask, connection: TaskConnection | undefined) =>
  isClosedThere(task, connection) && !writesState(task, connection)

type TaskStatus = Pick<StoredTask, 'status' | 'mergedInto' | 'statusBeforeMerge'>

/** The status as far as the code host is concerned: merging a task changes nothing there. */
export const statusToWrite = ({ status, mergedInto, statusBeforeMerge }: TaskStatus): StoredTask['status'] =>
  (mergedInto !== null && statusBeforeMerge) || status

/** The state that an issue has to have for its task. */
export const stateFor = (task: TaskStatus): 'open' | 'closed' =>
  statusToWrite(task) === 'done' ? 'closed' : 'open'

export const reasonFor = ({
  closedReason,
}: Pick<StoredTask, 'closedReason'>): 'completed' | 'not_planned' | 'duplicate' =>
  closedReason === 'not_planned' || closedReason === 'duplicate' ? closedReason : 'completed'

/** What shows that an issue was closed or reopened, although its state is the same again. */
interface StateMark extends Pick<CodehostItem, 'updatedAt' | 'isReopened'> {
  closedAt: string | null
}

export const stateMarkOf = ({ updatedAt, closedAt, isReopened }: CodehostItem): StateMark => ({
  updatedAt,
  closedAt: closedAt?.toISOString() ?? null,
  isReopened,
})

/** A state that is not written to the code host yet. */
export interface UnwrittenState {
  /** The state that was sent, and may have arrived. */
  sent?: CodehostItem['state'] | undefined
  /** The issue before. */
  before?: StateMark | undefined
}

/**
 * Whether the state that was sent has arrived, and somebody at the code host has changed it back since. If an issue was
 * reopened before already, or the host does not tell, any later change of it counts as one of its state.
 */
export function isChangedBack(item: CodehostItem, { sent, before }: UnwrittenState): boolean {
  if (!before || sent === undefined || item.state === sent) return false
  const { updatedAt, closedAt, isReopened } = stateMarkOf(item)
  if (item.state === 'closed') return closedAt !== before.closedAt
  if (isReopened !== null && isReopened !== before.isReopened) return isReopened
  return (
    isReopened !== false && updatedAt !== null && before.updatedAt !== null && updatedAt > before.updatedAt
  )
}

/** The kinds of writes that a setting excludes. */
export const excludedKinds = (writeBack: WriteBack): WriteKind[] =>
  (Object.keys(KINDS) as WriteKind[]).filter((kind) => !includesKind(writeBack, kind))

export const includesKind = (writeBack: WriteBack, kind: WriteKind): boolean =>
  KINDS[kind].includes(writeBack)

export type WriteKind = 'state' | 'comment_created' | 'comment_updated' | 'comment_deleted'

/** The settings that include each kind. */
const KINDS: Record<WriteKind, WriteBack[]> = {
  state: ['state', 'comments'],
  comment_created: ['comments'],
  comment_updated: ['comments'],
  comment_deleted: ['comments'],
}

/** Errors of credentials or settings that may be over once they are changed. */
export const ACCESS_ERRORS = [
  'codehost_token_rejected',
  'codehost_token_unreadable',
  'codehost_repository_not_found',
  'codehost_access_denied',
  'codehost_url_not_allowed',
] as const

const SECOND = 1_000
/** Longer than the timeout of a request: one whose response was lost may take effect until then. */
export const REQUEST_MS = 45 * SECOND
const MAX_RETRY = 3_600 * SECOND
const MAX_AGE = 3 * 24 * 3_600 * SECOND

/** Until when a request without a response may have its effect. */
export const arrivalEnd = (now: Date) => new Date(now.getTime() + REQUEST_MS)

/** When a failed write is tried again; undefined if its first attempt was three days ago. */
export function retryOf({
  now,
  firstAttemptAt,
  attempts,
}: {
  now: Date
  firstAttemptAt: Date
  attempts: number
}): Date | undefined {
  if (now.getTime() - firstAttemptAt.getTime() >= MAX_AGE) return undefined
  return new Date(now.getTime() + Math.min(REQUEST_MS * 2 ** Math.min(attempts, 10), MAX_RETRY))
}

/** Decides what the refusal of a write means: wait until a time, or fail with a message for the user. */
export function judgeWriteRefusal(
  refusal: HostRefusal,
  circumstances: Parameters<typeof judgeRefusal>[1],
): { verdict: 'wait'; retryAt: Date } | ({ verdict: 'fail' } & WriteError) {
  const judged = judgeRefusal(refusal, circumstances)
  if (judged.verdict === 'wait' || refusal.isTokenRequest || refusal.status === 401) return judged
  const { code, message } = /\blocked\b/i.test(refusal.message)
    ? LOCKED
    : adviceOf(refusal, circumstances.access)
  const hostMessage = refusal.message ? ` Message from the code host: ${refusal.message}` : ''
  return { verdict: 'fail', code, message: message + hostMessage }
}

const LOCKED: WriteError = {
  code: 'issue_locked',
  message:
    'The issue is locked at the code host, and these credentials may not comment on locked issues. Unlock it, then retry.',
}

function adviceOf(
  { status, singleSignOn }: HostRefusal,
  { app }: { token: string | null; app?: object | undefined },
): WriteError {
  if (status === 422) {
    return { code: 'codehost_rejected', message: 'The code host does not accept this change.' }
  }
  if (singleSignOn) {
    const message = `Authorize the token for single sign-on at ${singleSignOn}, then retry.`
    return { code: 'codehost_access_denied', message }
  }
  const message = app
    ? 'The GitHub App cannot write here. Grant it write access to issues, accept the new permissions in its installation, then retry.'
    : 'The token cannot write here. Connect the repository with one that has write access to issues, then retry.'
  return { code: 'codehost_access_denied', message }
}
