import { decideNotifications, type NotifiableChange, usernamesOf } from '../../domain/notifications.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Repositories } from '../../repositories/index.ts'

/** At most 10 ms without anything to tell, and 100 ms with much. */
const BATCH = { positions: 500, limit: 50 }

interface NotificationFeedDeps {
  repos: Pick<Repositories, 'transaction'>
  clock: Clock
}

/**
 * Notifies people of what concerns them, from the changes. The position is written with the notifications, in one
 * transaction: nothing is lost or repeated.
 */
export function notificationFeed({ repos, clock }: NotificationFeedDeps) {
  return {
    /** One step; returns whether there is more to do. Called by the worker every second, on one instance at a time. */
    work(): Promise<boolean> {
      return repos.transaction(async ({ notificationFeed: feed }) => {
        const progress = await feed.lock()
        if (!progress) return false
        if (!(await feed.isAnybodyActive())) {
          await feed.skip()
          return false
        }
        const { changes, end, isMore } = await feed.list(progress, BATCH)
        if (changes.length > 0) await tell(feed, changes)
        if (end > progress.position) await feed.advance(end)
        return isMore
      })
    },
  }

  async function tell(feed: Repositories['notificationFeed'], changes: NotifiableChange[]): Promise<void> {
    const now = clock.now()
    const outcome = decideNotifications(changes, await knownAbout(feed, changes))
    await feed.follow(outcome.followers)
    await feed.insertMentions(outcome.mentions)
    await feed.insert(outcome.notifications.map((row) => ({ id: clock.newId(now), ...row })))
    const recovered = changes.findLast(({ type }) => type === 'pipe.recovered')
    const read = recovered ? await feed.readRecovered(recovered.createdAt, now) : []
    await feed.announce([...new Set([...outcome.notifications.map(({ userId }) => userId), ...read])])
  }
}

/** Reads what the decision needs. */
async function knownAbout(feed: Repositories['notificationFeed'], changes: NotifiableChange[]) {
  const taskIds = present(changes.map(({ taskId }) => taskId))
  const commentIds = present(changes.map(({ commentId }) => commentId))
  const commented = present(changes.map(({ type, taskId }) => (type.startsWith('comment.') ? taskId : null)))
  const withNotes = present(changes.map(({ isOfNotes, taskId }) => (isOfNotes ? taskId : null)))
  const texts = new Map([
    ...(commentIds.length > 0 ? await feed.textsOfComments(commentIds) : []),
    ...(withNotes.length > 0 ? await feed.notesOf(withNotes) : []),
  ])
  const asked = present(changes.map(({ isQuestion, taskId }) => (isQuestion ? taskId : null)))
  const assignees = asked.length > 0 ? await feed.assigneesOf(asked) : new Map<string, string[]>()
  const usernames = usernamesOf(changes, { texts: texts.values(), assignees: assignees.values() })
  const followed = commented.length > 0 ? commented : []
  // What makes somebody a follower is compared with what that person decided.
  const followers = await feed.followersOf(usernames.length > 0 ? taskIds : followed)
  const ids = present([
    ...followers.map(({ userId }) => userId),
    ...changes.flatMap(({ claimantId, actor }) => [claimantId, actor.type === 'user' ? actor.id : null]),
  ])
  const hasOwners = asked.length > 0 || changes.some(({ type }) => type === 'pipe.failed')
  return {
    people: await feed.people({ usernames, ids, hasOwners }),
    projects: await feed.projectsOf(taskIds),
    texts,
    followers,
    assignees,
    mentions: texts.size > 0 ? await feed.mentionsIn([...texts.keys()]) : [],
  }
}

const present = (ids: (string | null)[]): string[] => [...new Set(ids.filter((id) => id !== null))]
