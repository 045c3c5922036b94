import type { AskedQuestion } from '../../domain/task-change.ts'
import type { BoundRepositories } from '../../repositories/index.ts'
import type { TaskChange } from '../../schemas/task-requests.ts'

/** What the comment that a change names asks; undefined if it names none, or there is no such comment. */
export async function questionIn(
  { comments }: Pick<BoundRepositories, 'comments'>,
  { question }: Pick<TaskChange, 'question'>,
): Promise<AskedQuestion | undefined> {
  const comment = question ? await comments.find(question.commentId) : undefined
  if (!comment) return undefined
  const { id: commentId, taskId, authorType: type, authorId, authorName: name, createdAt } = comment
  const askedBy = { type, id: authorId, name }
  return { taskId, question: { commentId, askedBy, askedAt: createdAt.toISOString() } }
}
