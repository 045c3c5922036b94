import { type AppError, validationFailed } from '../errors/index.ts'
import type { TaskSource } from '../schemas/task.ts'
import type { NewTaskInBulk, TaskChange } from '../schemas/task-requests.ts'
import type { StoredTask } from './task.ts'

/** Whether what comes this way arrives from another system: then nobody has decided about it. */
export const arrivesIn = (source: TaskSource): boolean => !MADE_HERE.includes(source)

const MADE_HERE: readonly TaskSource[] = ['dashboard', 'assistant']

/** Whoever changes one of these has decided about the task. */
const DECISIONS: readonly string[] = [
  'status',
  'priority',
  'listId',
  'labels',
  'assignees',
] satisfies readonly (keyof TaskChange)[]

/** Whether a task is triaged as the API shows it. */
export const isTriaged = ({ triaged, status }: Pick<StoredTask, 'triaged' | 'status'>): boolean =>
  triaged || status === 'done'

/** Whether a change of these fields by somebody triages the task. */
export const isDecision = (names: string[]): boolean => names.some((name) => DECISIONS.includes(name))

interface SnoozeCheck {
  now: Date
  /** Where the snooze is in the request. */
  path?: string
}

/** The error of a snooze that does not end in the future. */
export function pastSnooze(
  change: Pick<TaskChange, 'snoozedUntil'>,
  { now, path = '/snoozedUntil' }: SnoozeCheck,
): AppError | undefined {
  if (!isPastSnooze(change, now)) return undefined
  return validationFailed([{ path, code: 'out_of_range', message: 'must be in the future' }])
}

/** @throws validation_failed */
export function refusePastSnooze(change: Pick<TaskChange, 'snoozedUntil'>, check: SnoozeCheck): void {
  const refusal = pastSnooze(change, check)
  if (refusal) throw refusal
}

export const isPastSnooze = ({ snoozedUntil }: Pick<TaskChange, 'snoozedUntil'>, now: Date): boolean =>
  typeof snoozedUntil === 'string' && new Date(snoozedUntil) <= now

/** A create with an externalId can be repeated at any time: a snooze that has passed since is ignored. */
export function withoutPastSnooze(input: NewTaskInBulk, now: Date): NewTaskInBulk {
  if (typeof input.externalId !== 'string' || !isPastSnooze(input, now)) return input
  const { snoozedUntil: _, ...others } = input
  return others
}

/** As it is stored. */
export const snoozeOf = ({ snoozedUntil = null }: Pick<TaskChange, 'snoozedUntil'>): Date | null =>
  snoozedUntil === null ? null : new Date(snoozedUntil)
