import { describe, expect, test } from 'vitest'
import type { Activity, Comment } from '../../../../src/dashboard/api/queries.ts'
import { type TimelineItem, timelineOf } from '../../../../src/dashboard/tasks/panel/timeline-items.ts'

/** A list, newest first, of ids that are minutes. */
const activities = (minutes: number[], { hasMore = false, type = 'task.updated' } = {}) => ({
  items: minutes.map((minute) => ({ ...at(minute), type }) as Activity),
  hasMore,
})
const comments = (minutes: number[], { hasMore = false } = {}) => ({
  items: minutes.map((minute) => at(minute) as Comment),
  hasMore,
})
const at = (minute: number) => ({ id: String(minute), createdAt: new Date(minute * 60_000).toISOString() })
const idsOf = (items: TimelineItem[]) =>
  items.map((item) => ('comment' in item ? `comment ${item.comment.id}` : item.activity.id))

describe('the timeline', () => {
  test('has activities and comments in order of time, oldest first', () => {
    const { items, earlier } = timelineOf({ activities: activities([5, 3, 1]), comments: comments([4, 2]) })
    expect(idsOf(items)).toEqual(['1', 'comment 2', '3', 'comment 4', '5'])
    expect(earlier).toBeUndefined()
  })

  test('begins where both lists are loaded, and says which one to load next', () => {
    const some = timelineOf({
      activities: activities([9, 8, 7], { hasMore: true }),
      comments: comments([9, 2, 1], { hasMore: true }),
    })
    expect([idsOf(some.items), some.earlier]).toEqual([['7', '8', 'comment 9', '9'], 'activities'])

    const more = timelineOf({
      activities: activities([9, 8, 7, 1]),
      comments: comments([9, 2], { hasMore: true }),
    })
    expect([idsOf(more.items), more.earlier]).toEqual([['comment 2', '7', '8', 'comment 9', '9'], 'comments'])
  })

  test('shows a comment once, not also that it was written or edited', () => {
    for (const [type, expected] of [
      ['comment.created', ['comment 1']],
      ['comment.updated', ['comment 1']],
      ['comment.deleted', ['comment 1', '2']],
    ] as const) {
      const { items } = timelineOf({ activities: activities([2], { type }), comments: comments([1]) })
      expect([type, idsOf(items)]).toEqual([type, expected])
    }
  })
})
