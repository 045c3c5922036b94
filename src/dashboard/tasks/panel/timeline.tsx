import { Button, Textarea } from '@mantine/core'
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, dataOf } from '../../api/client.ts'
import { problemOf } from '../../api/problem.ts'
import { type Activity, itemsOf, type Task, timelineQuery } from '../../api/queries.ts'
import { LoadError } from '../../components/load-error.tsx'
import { RelativeTime } from '../../components/relative-time.tsx'
import { useDraft } from '../../components/use-draft.ts'
import { useIdempotentSend } from '../../components/use-idempotent-send.ts'
import { Markdown } from '../../markdown/markdown.tsx'
import { useMe } from '../../session/session.ts'
import { activityText, timeOf } from './activity-text.ts'
import styles from './task-panel.module.css'

/** Activities and comments of a task, oldest first. */
export function Timeline({ task }: { task: Task }) {
  const query = useInfiniteQuery(timelineQuery(task.id))
  const { can } = useMe()
  const activities = itemsOf(query.data).toReversed()
  return (
    <section className={styles.section} aria-label="Activity">
      <div className={styles.sectionHead}>
        <h2>Activity</h2>
      </div>
      {query.isError && activities.length === 0 && <LoadError what="the activity" query={query} />}
      {query.hasNextPage && (
        <Button
          variant="subtle"
          size="compact-sm"
          loading={query.isFetchingNextPage}
          onClick={() => query.fetchNextPage()}
        >
          Show earlier activity
        </Button>
      )}
      <ol className={styles.timeline}>
        {activities.map((activity) =>
          activity.type === 'comment' ? (
            <Comment key={activity.id} activity={activity} />
          ) : (
            <li key={activity.id} className={styles.activity}>
              <span className="breakable">
                <strong>{activity.actor.name}</strong> {activityText(activity)} ·{' '}
                <RelativeTime dateTime={timeOf(activity)} />
              </span>
            </li>
          ),
        )}
      </ol>
      {can('activity:write') && <CommentBox taskId={task.id} />}
    </section>
  )
}

function Comment({ activity }: { activity: Activity }) {
  return (
    <li className={styles.comment}>
      <div className={styles.commentHead}>
        <strong>{activity.actor.name}</strong> · <RelativeTime dateTime={activity.createdAt} />
      </div>
      <Markdown text={activity.message ?? ''} />
    </li>
  )
}

function CommentBox({ taskId }: { taskId: string }) {
  const queryClient = useQueryClient()
  const [draft = '', setDraft] = useDraft(`comment:${taskId}`)
  const sendOnce = useIdempotentSend(`comment:${taskId}`)
  const [errorMessage, setErrorMessage] = useState<string>()
  const [isBusy, setBusy] = useState(false)

  async function send() {
    if (draft.trim() === '' || isBusy) return
    const body = { type: 'comment', message: draft.trim(), taskId }
    setBusy(true)
    setErrorMessage(undefined)
    try {
      await sendOnce(body, (header) => dataOf(api.POST('/api/activity', { params: { header }, body })))
      // Keep text typed while the request was running.
      setDraft((current) => (current === draft ? undefined : current))
      await queryClient.invalidateQueries({ queryKey: ['timeline', taskId] })
    } catch (error) {
      setErrorMessage(problemOf(error).message)
    } finally {
      setBusy(false)
    }
  }

  return (
    <div className="stack" style={{ gap: 8 }}>
      <Textarea
        aria-label="Comment"
        placeholder="Add a comment"
        autosize
        minRows={2}
        maxRows={12}
        maxLength={4_000}
        value={draft}
        error={errorMessage}
        onChange={(event) => setDraft(event.currentTarget.value || undefined)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) void send()
        }}
      />
      <div>
        <Button variant="default" onClick={() => void send()} loading={isBusy} disabled={draft.trim() === ''}>
          Comment
        </Button>
      </div>
    </div>
  )
}
