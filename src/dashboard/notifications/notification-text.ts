import type { Notification } from '../api/notification-queries.ts'

/** What happened, as a sentence without the name of who did it. */
const DONE: Record<Notification['reason'], string> = {
  mentioned: 'mentioned you',
  assigned: 'assigned the task to you',
  commented: 'commented',
  question: 'needs an answer',
  claim_expired: 'Your claim ended before the task was done',
  broken: 'The overview says what fails, and where to mend it',
}

/** Reasons that are nobody's doing. */
const WITHOUT_NAME = ['claim_expired', 'broken']

/** The parts of what happened: who did it, if anybody, and what. */
export function textOf({ reason, actor, count }: Notification): { name: string | undefined; what: string } {
  const times = count > 1 ? `, ${count} times` : ''
  return { name: WITHOUT_NAME.includes(reason) ? undefined : actor.name, what: DONE[reason] + times }
}
