import { Button, Textarea } from '@mantine/core'
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, dataOf } from '../../api/client.ts'
import { problemOf } from '../../api/problem.ts'
import { type Activity, itemsOf, type Task, timelineQuery } from '../../api/queries.ts'
import { NotLoaded } from '../../components/load-error.tsx'
import { RelativeTime } from '../../components/relative-time.tsx'
import { useDraft } from '../../components/use-draft.ts'
import { useSendOnce } from '../../components/use-idempotent-send.ts'
import { Markdown } from '../../markdown/markdown.tsx'
import { useMe } from '../../session/session.ts'
import { activityText } from './activity-text.ts'
import styles from './task-panel.module.css'

/** What happened to a task and what was said about it, oldest first, with room for the next word. */
export function Timeline({ task }: { task: Task }) {
  const query = useInfiniteQuery(timelineQuery(task.id))
  const { can } = useMe()
  const entries = itemsOf(query.data).toReversed()
  return (
    <section className={styles.section} aria-label="Activity">
      <div className={styles.sectionHead}>
        <h2>Activity</h2>
      </div>
      {query.isError && entries.length === 0 && <NotLoaded what="The activity" query={query} />}
      {query.hasNextPage && (
        <Button
          variant="subtle"
          size="compact-sm"
          loading={query.isFetchingNextPage}
          onClick={() => query.fetchNextPage()}
        >
          Show what was before
        </Button>
      )}
      <ol className={styles.timeline}>
        {entries.map((entry) =>
          entry.type === 'comment' ? (
            <Comment key={entry.id} entry={entry} />
          ) : (
            <li key={entry.id} className={styles.entry}>
              <span className="breakable">
                <strong>{entry.actor.name}</strong> {activityText(entry)} ·{' '}
                <RelativeTime at={entry.createdAt} />
              </span>
            </li>
          ),
        )}
      </ol>
      {can('activity:write') && <CommentBox taskId={task.id} />}
    </section>
  )
}

function Comment({ entry }: { entry: Activity }) {
  return (
    <li className={styles.comment}>
      <div className={styles.commentHead}>
        <strong>{entry.actor.name}</strong> · <RelativeTime at={entry.createdAt} />
      </div>
      <Markdown text={entry.message ?? ''} />
    </li>
  )
}

function CommentBox({ taskId }: { taskId: string }) {
  const cache = useQueryClient()
  const [draft = '', setDraft] = useDraft(`comment:${taskId}`)
  const sendOnce = useSendOnce(`comment:${taskId}`)
  const [mistake, setMistake] = useState<string>()
  const [isBusy, setBusy] = useState(false)

  async function send() {
    if (draft.trim() === '' || isBusy) return
    const body = { type: 'comment', message: draft.trim(), taskId }
    setBusy(true)
    setMistake(undefined)
    try {
      await sendOnce(body, (header) => dataOf(api.POST('/api/activity', { params: { header }, body })))
      // What was typed while it was on its way is the next one.
      setDraft((now) => (now === draft ? undefined : now))
      await cache.invalidateQueries({ queryKey: ['timeline', taskId] })
    } catch (error) {
      setMistake(problemOf(error).message)
    } finally {
      setBusy(false)
    }
  }

  return (
    <div className="stack" style={{ gap: 8 }}>
      <Textarea
        aria-label="Comment"
        placeholder="Write a comment"
        autosize
        minRows={2}
        maxRows={12}
        maxLength={4_000}
        value={draft}
        error={mistake}
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
