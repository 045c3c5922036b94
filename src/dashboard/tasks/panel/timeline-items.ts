import type { Activity, Comment } from '../../api/queries.ts'

export type TimelineItem = { activity: Activity } | { comment: Comment }

/** The loaded part of a list, newest first. */
interface Loaded<T> {
  items: T[]
  hasMore: boolean
}

interface TimelineSources {
  activities: Loaded<Activity>
  comments: Loaded<Comment>
}

/** Activities that the comments themselves show. */
const SHOWN_AS_COMMENTS = ['comment.created', 'comment.updated']

/**
 * Activities and comments in one timeline, oldest first. It begins where both lists are loaded; `earlier` names the list
 * to load more of, if any.
 */
export function timelineOf({ activities, comments }: TimelineSources): {
  items: TimelineItem[]
  earlier: 'activities' | 'comments' | undefined
} {
  const beginnings = { activities: beginningOf(activities), comments: beginningOf(comments) }
  const beginning = beginnings.activities > beginnings.comments ? beginnings.activities : beginnings.comments
  const isLoaded = ({ createdAt }: { createdAt: string }) => createdAt >= beginning
  const items: TimelineItem[] = [
    ...activities.items
      .filter((activity) => isLoaded(activity) && !SHOWN_AS_COMMENTS.includes(activity.type))
      .map((activity) => ({ activity })),
    ...comments.items.filter(isLoaded).map((comment) => ({ comment })),
  ]
  const earlier = beginnings.comments > beginnings.activities ? 'comments' : 'activities'
  return {
    items: items.toReversed().sort((a, b) => compare(timeOfItem(a), timeOfItem(b))),
    earlier: beginning === '' ? undefined : earlier,
  }
}

/** The earliest loaded time, or an empty text if everything is loaded. */
const beginningOf = ({ items, hasMore }: Loaded<{ createdAt: string }>): string =>
  hasMore ? (items.at(-1)?.createdAt ?? '') : ''

const timeOfItem = (item: TimelineItem) =>
  'activity' in item ? item.activity.createdAt : item.comment.createdAt

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
