import { claimedByOthers, mergedTask, taskDone } from '../errors/index.ts'
import type { Task, TaskSource } from '../schemas/task.ts'
import { claimOf, isOwnClaim, NO_CLAIM, overriddenBy, unclaimedStatus } from './claim.ts'
import type { CodehostComment } from './codehost/comment.ts'
import type { ActorRef } from './new-task.ts'
import type { StoredTask } from './task.ts'
import { type ChangeOutcome, decideChange } from './task-change.ts'

type Question = NonNullable<Task['question']>

/** What is written when a question begins or ends. */
export type QuestionOutcome = Pick<ChangeOutcome, 'update'> & {
  activities: {
    type: ChangeOutcome['activities'][number]['type'] | 'task.claim_released'
    metadata: Record<string, unknown>
  }[]
}

interface Asking {
  /** The comment that asks. */
  commentId: string
  actor: ActorRef
  /** What it was asked through. */
  channel: TaskSource
  now: Date
}

/**
 * Decides a question about a task: it ends the claim, and replaces an earlier question.
 * @throws task_done; merge_conflict for a merged task; task_claimed for an assistant, if somebody else has claimed it
 */
export function decideQuestion(
  task: StoredTask,
  { commentId, actor, channel, now }: Asking,
): QuestionOutcome {
  const { id, mergedInto } = task
  if (mergedInto !== null) throw mergedTask({ id, mergedInto })
  if (task.status === 'done') throw taskDone(id)
  const claim = claimOf(task)
  const isOwn = claim !== null && isOwnClaim(actor, claim)
  if (claim && !isOwn && channel === 'assistant') throw claimedByOthers(id, claim)
  const unclaimed = task.claimedByType === null ? {} : { ...NO_CLAIM, status: unclaimedStatus(task) }
  const question = { commentId, askedBy: actor, askedAt: now.toISOString() }
  const changes = { question: { from: task.question, to: question } }
  return {
    update: { ...unclaimed, question, updatedAt: now, version: task.version + 1 },
    activities: [
      ...(isOwn ? [{ type: 'task.claim_released' as const, metadata: { number: claim.number } }] : []),
      { type: 'task.updated', metadata: { changes, ...overriddenBy(actor, task) } },
    ],
  }
}

interface Ending {
  actor: ActorRef
  channel: TaskSource
  /** The comment that ends it, if one does. */
  commentId?: string
  now: Date
}

/** Decides the end of the question of a task; undefined if it has none. */
export function decideEnd(
  task: StoredTask,
  { actor, channel, commentId, now }: Ending,
): ChangeOutcome | undefined {
  const requested = { change: { question: null }, moveTo: undefined, connection: undefined }
  const outcome = decideChange(task, { ...requested, actor, channel, now })
  if (!outcome || commentId === undefined) return outcome
  const activities = outcome.activities.map(({ type, metadata }) => ({
    type,
    metadata: { ...metadata, commentId },
  }))
  return { ...outcome, activities }
}

/** Whether a comment that was made here answers the question: assistants cannot answer each other. */
export const endsQuestion = (channel: TaskSource): boolean => channel !== 'assistant'

/**
 * Whether a new comment of the code host answers a question: one that a person wrote afterwards, as far as the host says,
 * whose times are in seconds.
 */
export const endsQuestionAtHost = (
  { author, createdAt }: Pick<CodehostComment, 'author' | 'createdAt'>,
  { askedAt }: Pick<Question, 'askedAt'>,
): boolean =>
  !author?.name.endsWith(APP_SUFFIX) &&
  (createdAt === null || createdAt.getTime() >= Math.floor(Date.parse(askedAt) / 1_000) * 1_000)

/** Of the names of apps at the code host. */
const APP_SUFFIX = '[bot]'
