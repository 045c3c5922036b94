import { Button } from '@mantine/core'
import { QuestionIcon } from '@primer/octicons-react'
import { useQuery } from '@tanstack/react-query'
import { commentQuery, type Task } from '../../api/queries.ts'
import { RelativeTime } from '../../components/relative-time.tsx'
import { Markdown } from '../../markdown/markdown.tsx'
import styles from './task-panel.module.css'
import type { TaskEdit } from './use-task-edit.ts'

interface QuestionNoteProps {
  task: Task
  edit: TaskEdit
  mayWrite: boolean
  /** The comment right above it. */
  latestCommentId: string | undefined
}

/** What a task waits for, above the box that answers it. */
export function QuestionNote({ task, edit, mayWrite, latestCommentId }: QuestionNoteProps) {
  const { question } = task
  const isReadAbove = question?.commentId === latestCommentId
  const { data: comment } = useQuery({
    ...commentQuery(question?.commentId ?? ''),
    enabled: question !== null && !isReadAbove,
  })
  if (!question) return null
  return (
    <section className={styles.question} aria-label="Question">
      <div className={styles.questionHead}>
        <QuestionIcon size={16} aria-hidden />
        <span className="breakable">
          <strong>{question.askedBy.name}</strong> asked <RelativeTime dateTime={question.askedAt} />
          {mayWrite && ', answer below'}
        </span>
        {mayWrite && (
          <Button
            className="push"
            variant="default"
            size="compact-sm"
            title="Ends the question without an answer"
            disabled={edit.isBusy}
            onClick={() => void edit.save({ question: null })}
          >
            Dismiss
          </Button>
        )}
      </div>
      {comment && !isReadAbove && (
        <div className={styles.questionText}>
          <Markdown text={comment.body} />
        </div>
      )}
    </section>
  )
}
