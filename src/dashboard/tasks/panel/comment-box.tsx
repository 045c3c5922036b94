import { Button, Checkbox, Textarea } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { api, dataOf } from '../../api/client.ts'
import { connectionQuery } from '../../api/connection-query.ts'
import { invalidate } from '../../api/invalidate.ts'
import { isUnreachable, problemOf } from '../../api/problem.ts'
import type { Task } from '../../api/queries.ts'
import { isEnterWithCommand } from '../../components/is-enter.ts'
import { offerRetry } from '../../components/offer-retry.tsx'
import { toast } from '../../components/toast.ts'
import { useDraft } from '../../components/use-draft.ts'
import { useIdempotentSend } from '../../components/use-idempotent-send.ts'
import { isShortcut } from '../../keyboard/shortcuts.ts'
import { Markdown } from '../../markdown/markdown.tsx'
import { useMe } from '../../session/session.ts'
import { shortTitle } from '../edits/toast-text.ts'
import { useIsManaged } from '../managed.ts'
import styles from './task-panel.module.css'

/** Sends a comment. It is shown at once; its draft is kept until the service has it. */
export function CommentBox({ task }: { task: Task }) {
  const { id: taskId } = task
  const repository = usePostedTo(task)
  const [isPublic, setPublic] = useState(false)
  const queryClient = useQueryClient()
  const { me } = useMe()
  const [draft = '', setDraft] = useDraft(`comment:${taskId}`)
  const sendOnce = useIdempotentSend(`comment:${taskId}`)
  const [errorMessage, setErrorMessage] = useState<string>()
  const [sent, setSent] = useState<string>()
  const box = useRef<HTMLTextAreaElement>(null)
  const toastId = `unsent-comment-${taskId}`
  useFocusShortcut(box)
  // The draft of what is being sent stays stored.
  const text = draft === sent ? '' : draft

  async function send() {
    if (text.trim() === '' || sent !== undefined) return
    const body = { body: text, ...(repository && isPublic && { isPublic }) }
    toast.hide(toastId)
    setSent(text)
    setErrorMessage(undefined)
    try {
      const path = { id: taskId }
      await sendOnce(body, (header) =>
        dataOf(api.POST('/api/tasks/{id}/comments', { params: { path, header }, body })),
      )
      // Keep text typed while the request was running.
      setDraft((current) => (current === text ? undefined : current))
      await invalidate(queryClient, { queryKey: ['comments', taskId] })
      // Its question ends.
      if (body.isPublic || task.question) await invalidate(queryClient, { queryKey: ['task', taskId] })
    } catch (error) {
      setDraft((current) => (current === undefined || current === text ? text : `${text}\n\n${current}`))
      const problem = problemOf(error)
      if (isUnreachable(problem)) void retry()
      else setErrorMessage(problem.message)
    } finally {
      setSent(undefined)
    }
  }

  // As it is by then, which may be a longer text.
  const latestSend = useRef(send)
  latestSend.current = send
  const retry = async () =>
    (await offerRetry({
      id: toastId,
      title: 'Not saved',
      text: `Comment on “${shortTitle(task.title)}”.`,
    })) && latestSend.current()

  return (
    <div className={styles.commentBox}>
      {sent !== undefined && (
        <div className={`${styles.comment} ${styles.pending}`} role="status">
          <div className={styles.commentHead}>
            <strong>{me?.name}</strong> · sending
          </div>
          <Markdown text={sent} />
        </div>
      )}
      <Textarea
        ref={box}
        aria-label="Comment"
        placeholder={task.question ? 'Add your answer' : 'Add a comment'}
        autosize
        minRows={2}
        maxRows={12}
        maxLength={65_536}
        value={text}
        error={errorMessage}
        onChange={(event) => setDraft(event.currentTarget.value || undefined)}
        onKeyDown={(event) => {
          if (isEnterWithCommand(event)) void send()
        }}
      />
      {repository && (
        <Checkbox
          label={`Post to ${repository}`}
          description="Everyone who can see the repository can read the comment."
          checked={isPublic}
          onChange={(event) => setPublic(event.currentTarget.checked)}
        />
      )}
      <div className="row">
        <Button
          variant="default"
          onClick={() => void send()}
          loading={sent !== undefined}
          disabled={text.trim() === ''}
        >
          {task.question ? 'Answer' : 'Comment'}
        </Button>
        <span className="quiet small push">Markdown supported</span>
      </div>
    </div>
  )
}

/** The repository that public comments on a task are posted to, if they are. */
function usePostedTo(task: Task): string | undefined {
  const isManaged = useIsManaged(task)
  const { data: connection } = useQuery({ ...connectionQuery(task.projectId), enabled: isManaged })
  const isPosted = isManaged && task.sourceState === 'present' && connection?.writeBack === 'comments'
  return isPosted ? connection.repository : undefined
}

/** `m` focuses the box, unless the list merges with it. */
function useFocusShortcut(box: { current: HTMLElement | null }) {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== 'm' || !isShortcut(event)) return
      event.preventDefault()
      box.current?.focus()
      box.current?.scrollIntoView({ block: 'center' })
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [box])
}
