import { AppError } from './app-error.ts'

export const descriptionReadOnly = (source: string) =>
  new AppError('description_read_only', {
    detail: `The description of a task with source ${source} is read-only. Use notes instead.`,
  })

export const taskNotFound = (id: string) =>
  new AppError('task_not_found', { detail: `Task ${id} not found.` })

export const commentNotFound = (id: string) =>
  new AppError('comment_not_found', { detail: `Comment ${id} not found.` })

export const commentOfAnother = () =>
  new AppError('insufficient_scope', {
    detail: 'Only the key that wrote a comment can change or delete it, or a key with the scope admin.',
    requiredScope: 'admin',
  })

export const activityNotFound = (id: string) =>
  new AppError('activity_not_found', { detail: `Activity ${id} not found.` })

export const listNotFound = (id: string) =>
  new AppError('list_not_found', { detail: `List ${id} not found.` })

export const sourceSecretMissing = (id: string) =>
  new AppError('source_secret_missing', {
    detail: `Source ${id} was imported without its secret. Rotate the secret, and store the new one at the sender first.`,
  })

export const sourceNotFound = (id: string) =>
  new AppError('source_not_found', { detail: `Source ${id} not found.` })

export const deliveryNotFound = (id: string) =>
  new AppError('delivery_not_found', { detail: `Delivery ${id} not found.` })

export const routingRuleNotFound = (id: string) =>
  new AppError('routing_rule_not_found', { detail: `Routing rule ${id} not found.` })

export const projectNotFound = (id: string) =>
  new AppError('project_not_found', { detail: `Project ${id} not found.` })

export const savedFilterNotFound = (id: string) =>
  new AppError('saved_filter_not_found', { detail: `Saved filter ${id} not found.` })

export const tooManySavedFilters = (max: number) =>
  new AppError('too_many_saved_filters', {
    detail: `The limit of ${max} saved filters is reached. Delete one first.`,
  })

export const ruleNotFound = (id: string) =>
  new AppError('rule_not_found', { detail: `Rule ${id} not found.` })

export const ruleVersionNotFound = (id: string, version: number) =>
  new AppError('rule_version_not_found', { detail: `Rule ${id} has no version ${version}.` })

export const tooManyRules = (max: number) =>
  new AppError('too_many_rules', {
    detail: `The limit of ${max} rules is reached. Delete one, or combine several into one.`,
  })

export const projectArchived = (name: string) =>
  new AppError('project_archived', {
    detail: `The project "${name}" is archived and read-only. Unarchive it first.`,
    withoutNames: 'The project is archived and read-only. Unarchive it first.',
  })

export const projectNotEmpty = (name: string) =>
  new AppError('project_not_empty', {
    detail: `The project "${name}" has tasks. Move them to another project or delete them first.`,
  })

/** @param users names what still references it, such as `the source "Forms" and a rule`. */
export const projectInUse = (name: string, users: string) =>
  new AppError('project_in_use', {
    detail: `The project "${name}" is in use by ${users}. Delete its rules, sources, and webhooks, revoke its keys, disconnect its repository, change the projects of people, withdraw its invites, and delete or change the routing rules that target it first.`,
  })

export const projectIsDefault = (name: string) =>
  new AppError('project_is_default', {
    detail: `The project "${name}" is the default project. It can be renamed, but not archived or deleted.`,
  })

export const listNotEmpty = (name: string) =>
  new AppError('list_not_empty', {
    detail: `The list "${name}" has tasks. Set ?moveTo= to the list of the project that they move to.`,
  })

export const listIsDefault = (name: string) =>
  new AppError('list_is_default', {
    detail: `The list "${name}" is the default list of its project. It can be renamed and moved, but not deleted.`,
  })

export const externalIdTaken = () =>
  new AppError('external_id_taken', {
    detail: 'Another task in this project, with the same source, already has this task’s externalId.',
  })

export const codehostItemTaken = () =>
  new AppError('external_id_taken', {
    detail: 'The project already has a task for this issue or pull request.',
  })

export const deliveryNotReplayable = (id: string) =>
  new AppError('delivery_not_replayable', {
    detail: `Delivery ${id} has no task, and its payload is not stored completely. Ask its sender to send it again.`,
  })

export const deliveryPending = (id: string) =>
  new AppError('delivery_not_replayable', {
    detail: `Delivery ${id} is pending, and is processed by itself.`,
  })
