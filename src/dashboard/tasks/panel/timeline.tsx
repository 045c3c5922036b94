import { Button } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { loadMore } from '../../api/invalidate.ts'
import { type Activity, commentsQuery, itemsOf, type Task, timelineQuery } from '../../api/queries.ts'
import { useTask } from '../../api/use-tasks.ts'
import { LoadError } from '../../components/load-error.tsx'
import { RelativeTime } from '../../components/relative-time.tsx'
import { Markdown } from '../../markdown/markdown.tsx'
import { useMe } from '../../session/session.ts'
import { useIsManaged } from '../managed.ts'
import { TaskLink } from '../reports/task-link.tsx'
import { activityText, timeOf } from './activity-text.ts'
import { CommentBox } from './comment-box.tsx'
import { CommentItem } from './comment-item.tsx'
import { QuestionNote } from './question-note.tsx'
import styles from './task-panel.module.css'
import { timelineOf } from './timeline-items.ts'
import { useLinkedComment } from './use-linked-comment.ts'
import type { TaskEdit } from './use-task-edit.ts'

/** Activities and comments of a task, oldest first. */
export function Timeline({ task, edit }: { task: Task; edit: TaskEdit }) {
  const queries = {
    activities: useInfiniteQuery(timelineQuery(task.id)),
    comments: useInfiniteQuery(commentsQuery(task.id)),
  }
  const { can } = useMe()
  const isManaged = useIsManaged(task)
  const { activities, comments } = queries
  const isLoading = activities.isPending || comments.isPending
  const { items, earlier } = timelineOf({
    activities: { items: itemsOf(activities.data), hasMore: activities.hasNextPage },
    comments: { items: itemsOf(comments.data), hasMore: comments.hasNextPage },
  })
  const earlierQuery = earlier && queries[earlier]
  const canLoad = earlierQuery && !isLoading && !earlierQuery.isFetchNextPageError
  const loadEarlier = canLoad ? () => loadMore(earlierQuery) : undefined
  useLinkedComment({ taskId: task.id, items, loadEarlier })
  return (
    <section className={styles.section} aria-label="Activity">
      <div className={styles.sectionHead}>
        <h2>Activity</h2>
      </div>
      {activities.isError && !activities.data && <LoadError what="the activity" query={activities} />}
      {comments.isError && !comments.data && <LoadError what="the comments" query={comments} />}
      {earlierQuery && (
        <Button
          variant="subtle"
          size="compact-sm"
          loading={earlierQuery.isFetchingNextPage}
          onClick={() => void loadMore(earlierQuery)}
        >
          Show earlier activity
        </Button>
      )}
      {!isLoading && items.length === 0 && (
        <p className="quiet small" style={{ margin: 0 }}>
          No activity or comments
        </p>
      )}
      <ol className={styles.timeline}>
        {items.map((item) =>
          'comment' in item ? (
            <CommentItem key={item.comment.id} comment={item.comment} isManaged={isManaged} />
          ) : item.activity.type === 'comment' ? (
            <PostedComment key={item.activity.id} activity={item.activity} />
          ) : (
            <li key={item.activity.id} className={styles.activity}>
              <span className="breakable">
                <strong>{item.activity.actor.name}</strong> {activityText(item.activity)}
                <Target activity={item.activity} /> · <RelativeTime dateTime={timeOf(item.activity)} />
              </span>
            </li>
          ),
        )}
      </ol>
      {!comments.isPending && (
        <QuestionNote
          task={task}
          edit={edit}
          mayWrite={can('tasks:write')}
          latestCommentId={itemsOf(comments.data)[0]?.id}
        />
      )}
      {can('tasks:write') && <CommentBox task={task} />}
    </section>
  )
}

/** The task that it was merged into. */
function Target({ activity: { metadata } }: { activity: Activity }) {
  const id = typeof metadata.into === 'string' ? metadata.into : undefined
  const { task } = useTask(id ?? '', { isEnabled: id !== undefined })
  if (!id || !task) return null
  return (
    <>
      : <TaskLink id={id} title={task.title} />
    </>
  )
}

/** A comment from before tasks had comments: an activity of the dashboard. */
function PostedComment({ activity }: { activity: Activity }) {
  return (
    <li className={styles.comment}>
      <div className={styles.commentHead}>
        <strong>{activity.actor.name}</strong> · <RelativeTime dateTime={activity.createdAt} />
      </div>
      <Markdown text={activity.message ?? ''} />
    </li>
  )
}
