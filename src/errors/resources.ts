import { AppError } from './app-error.ts'

export const descriptionReadOnly = (source: string) =>
  new AppError(
    'description_read_only',
    `The description of a task with source ${source} cannot be changed here: it belongs to where the task came from. Write into notes instead.`,
  )

export const taskNotFound = (id: string) => new AppError('task_not_found', `There is no task ${id}.`)

export const activityNotFound = (id: string) =>
  new AppError('activity_not_found', `There is no activity entry ${id}.`)

export const listNotFound = (id: string) => new AppError('list_not_found', `There is no list ${id}.`)

export const eventNotFound = (id: string) =>
  new AppError('event_not_found', `There is no feedback event ${id}.`)

export const routingRuleNotFound = (id: string) =>
  new AppError('routing_rule_not_found', `There is no routing rule ${id}.`)

export const projectNotFound = (id: string) => new AppError('project_not_found', `There is no project ${id}.`)

export const ruleNotFound = (id: string) => new AppError('rule_not_found', `There is no rule ${id}.`)

export const ruleVersionNotFound = (id: string, version: number) =>
  new AppError('rule_version_not_found', `The rule ${id} never had a version ${version}.`)

export const tooManyRules = (max: number) =>
  new AppError(
    'too_many_rules',
    `There are ${max} rules here already, which is the most. Delete one, or put several into one.`,
  )

export const projectArchived = (name: string) =>
  new AppError(
    'project_archived',
    `The project "${name}" is archived: unarchive it before you write to it.`,
    {
      withoutNames: 'The project is archived: unarchive it before you write to it.',
    },
  )

export const projectNotEmpty = (name: string) =>
  new AppError(
    'project_not_empty',
    `The project "${name}" still holds tasks: move them to another project or delete them first.`,
  )

/** @param users what still references it, as text: rules, keys, routing rules. */
export const projectInUse = (name: string, users: string[]) =>
  new AppError(
    'project_in_use',
    `The project "${name}" is still used by ${users.join(' and ')}: delete its rules, revoke its keys, and delete the routing rules that lead to it or point them elsewhere first.`,
  )

export const projectIsDefault = (name: string) =>
  new AppError(
    'project_is_default',
    `The project "${name}" is the default: it can be renamed, not archived or deleted.`,
  )

export const listNotEmpty = (name: string) =>
  new AppError(
    'list_not_empty',
    `The list "${name}" holds tasks: say with ?moveTo= which list of the project takes them.`,
  )

export const listIsDefault = (name: string) =>
  new AppError(
    'list_is_default',
    `The list "${name}" is the default of its project: it can be renamed and moved, not deleted.`,
  )

export const externalIdTaken = () =>
  new AppError(
    'external_id_taken',
    'Another task of that project and source already has this task’s externalId.',
  )

export const eventNotReplayable = (id: string) =>
  new AppError(
    'event_not_replayable',
    `The feedback event ${id} has no task, and what was sent is not kept whole: let its sender send it again.`,
  )
