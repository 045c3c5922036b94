import type { NotificationReason } from '../schemas/notification.ts'
import { MAX_MENTIONS, mentionsIn } from './mentions.ts'
import type { ActorRef } from './new-task.ts'

/** A change that may concern somebody. */
export interface NotifiableChange {
  type: string
  taskId: string | null
  actor: ActorRef
  createdAt: Date
  /** The names that it adds to the assignees. */
  assignees: string[]
  /** Whether the notes are other ones. */
  isOfNotes: boolean
  commentId: string | null
  /** Whether its comment needs an answer. */
  isQuestion: boolean
  /** The person whose claim has expired. */
  claimantId: string | null
}

/** An active person. */
export interface NotifiablePerson {
  id: string
  username: string
  isOwner: boolean
  projectIds: string[] | null
}

export interface Follower {
  taskId: string
  userId: string
  isFollowing: boolean
  changedAt: Date
}

export interface Mention {
  /** The comment, or the task for its notes. */
  sourceId: string
  userId: string
  taskId: string
}

/** What is known of the tasks and people that some changes are about. */
export interface KnownAbout {
  people: NotifiablePerson[]
  /** The projects of the tasks that exist. */
  projects: ReadonlyMap<string, string>
  /** The comments that exist, and the notes of tasks: empty if nobody can be mentioned there. */
  texts: ReadonlyMap<string, string>
  followers: Follower[]
  mentions: Mention[]
  /** The assignees of the tasks that questions are about. */
  assignees: ReadonlyMap<string, string[]>
}

export interface NewNotification {
  userId: string
  reason: NotificationReason
  taskId: string | null
  count: number
  actor: ActorRef
  createdAt: Date
}

export interface NotificationOutcome {
  /** One for each person, task and reason. */
  notifications: NewNotification[]
  /** Whom the changes make followers. */
  followers: Follower[]
  mentions: Mention[]
}

/** Decides who is notified of changes, in their order: nobody of own acts, or of what that person can't read. */
export function decideNotifications(changes: NotifiableChange[], known: KnownAbout): NotificationOutcome {
  const people = new Map(known.people.map((person) => [person.id, person]))
  const byUsername = new Map(known.people.map((person) => [person.username, person]))
  /** By task, then by person. */
  const followers = new Map(
    [...Map.groupBy(known.followers, ({ taskId }) => taskId)].map(([taskId, all]) => [
      taskId,
      new Map(all.map((follower) => [follower.userId, follower])),
    ]),
  )
  const mentioned = new Set(known.mentions.map(keyOf))
  const outcome: NotificationOutcome = { notifications: [], followers: [], mentions: [] }
  const notifications = new Map<string, NewNotification>()

  for (const change of changes) {
    const { taskId } = change
    if (taskId === null && change.type === 'pipe.failed') tellOwners(change, 'broken')
    else if (taskId !== null && known.projects.has(taskId)) decide({ ...change, taskId })
  }
  return { ...outcome, notifications: [...notifications.values()] }

  function decide(change: TaskChange): void {
    const assigned = change.assignees.flatMap((name) => byUsername.get(name.toLowerCase()) ?? [])
    for (const person of assigned.filter((each) => canRead(each, change))) {
      tell(person.id, { change, reason: 'assigned' })
      follow(person.id, change)
    }
    if (change.isOfNotes) tellMentioned(change.taskId, change)
    if (change.commentId !== null) tellOfComment({ ...change, commentId: change.commentId })
    if (change.type === 'task.created') followAsActor(change)
    const claimant = people.get(change.claimantId ?? '')
    if (claimant && canRead(claimant, change)) tell(claimant.id, { change, reason: 'claim_expired' })
  }

  function tellOfComment(change: TaskChange & { commentId: string }): void {
    const { taskId, type, commentId } = change
    const mentionedNow = tellMentioned(commentId, change)
    if (type !== 'comment.created') return
    if (known.texts.has(commentId)) {
      const candidates = new Set([
        ...(change.isQuestion ? assigneesOf(taskId) : []),
        ...[...(followers.get(taskId)?.values() ?? [])].flatMap((each) =>
          each.isFollowing ? each.userId : [],
        ),
      ])
      const reason = change.isQuestion ? 'question' : 'commented'
      const notified = [...candidates].filter((id) => !mentionedNow.has(id) && isConcerned(id, change))
      for (const id of notified) tell(id, { change, reason })
      if (change.isQuestion && notified.length + mentionedNow.size === 0) tellOwners(change, reason)
    }
    followAsActor(change)
  }

  /** Tells those whom the text mentions and did not mention before. */
  function tellMentioned(sourceId: string, change: TaskChange): Set<string> {
    const names = mentionsIn(known.texts.get(sourceId) ?? '')
    const readers = names
      .flatMap((name) => byUsername.get(name) ?? [])
      .filter((each) => canRead(each, change))
    const added = new Set<string>()
    for (const { id: userId } of readers.slice(0, MAX_MENTIONS)) {
      const mention = { sourceId, userId, taskId: change.taskId }
      if (mentioned.has(keyOf(mention))) continue
      mentioned.add(keyOf(mention))
      outcome.mentions.push(mention)
      added.add(userId)
      tell(userId, { change, reason: 'mentioned' })
      follow(userId, change)
    }
    return added
  }

  function tellOwners(change: NotifiableChange, reason: NotificationReason): void {
    for (const { id } of known.people.filter(({ isOwner }) => isOwner)) tell(id, { change, reason })
  }

  function assigneesOf(taskId: string): string[] {
    const names = known.assignees.get(taskId) ?? []
    return names.flatMap((name) => byUsername.get(name.toLowerCase())?.id ?? [])
  }

  /** Whether a change of somebody else concerns a person. */
  function isConcerned(id: string, change: TaskChange): boolean {
    const { actor } = change
    const person = people.get(id)
    return person !== undefined && canRead(person, change) && !(actor.type === 'user' && actor.id === id)
  }

  function tell(
    userId: string,
    { change, reason }: { change: NotifiableChange; reason: NotificationReason },
  ) {
    const { taskId, actor, createdAt } = change
    if (actor.type === 'user' && actor.id === userId) return
    const key = `${userId} ${taskId} ${reason}`
    const count = (notifications.get(key)?.count ?? 0) + 1
    notifications.set(key, { userId, reason, taskId, count, actor, createdAt })
  }

  function followAsActor(change: TaskChange): void {
    const { actor } = change
    if (actor.type === 'user' && actor.id !== null && people.has(actor.id)) follow(actor.id, change)
  }

  function follow(userId: string, { taskId, createdAt: changedAt }: TaskChange): void {
    const follower = { taskId, userId, isFollowing: true, changedAt }
    const ofTask = followers.get(taskId) ?? new Map<string, Follower>()
    followers.set(taskId, ofTask)
    const before = ofTask.get(userId)
    if (before && (before.isFollowing || before.changedAt >= changedAt)) return
    ofTask.set(userId, follower)
    outcome.followers.push(follower)
  }

  function canRead({ projectIds }: NotifiablePerson, { taskId }: TaskChange): boolean {
    return projectIds === null || projectIds.includes(known.projects.get(taskId) ?? '')
  }
}

type TaskChange = NotifiableChange & { taskId: string }

const keyOf = ({ sourceId, userId }: Mention) => `${sourceId} ${userId}`

/** The usernames that people have to be known by, to decide. */
export const usernamesOf = (
  changes: NotifiableChange[],
  { texts, assignees }: { texts: Iterable<string>; assignees: Iterable<string[]> },
): string[] => [
  ...new Set([
    ...[...changes.map((change) => change.assignees), ...assignees].flat().map((name) => name.toLowerCase()),
    ...[...texts].flatMap(mentionsIn),
  ]),
]
