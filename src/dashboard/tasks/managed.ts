import { useQuery } from '@tanstack/react-query'
import { type Project, projectsQuery, type Task } from '../api/queries.ts'

/** Whether the code host manages the title, labels, and assignees of a task: it does until it is disconnected. */
export function useIsManaged(task: Task): boolean {
  const { data: projects } = useQuery(projectsQuery)
  const project = projects?.find(({ id }) => id === task.projectId)
  return task.source === 'codehost' && (project === undefined || isOfConnected(task, project))
}

type Merged = Pick<Task, 'mergedInto'>
type Reported = Pick<Task, 'reports'>

/** Why no status of these tasks can be changed; undefined if that of one can. */
export function statusLock(tasks: Merged[]): string | undefined {
  if (!areMerged(tasks)) return undefined
  return tasks.length === 1
    ? 'This task is merged. Unmerge it to change its status.'
    : 'These tasks are merged. Unmerge them to change their status.'
}

/** Why none of these tasks can be merged into another one; undefined if one can. */
export function mergeLock(tasks: (Merged & Reported)[]): string | undefined {
  if (areMerged(tasks))
    return tasks.length === 1
      ? 'This task is merged. Unmerge it to merge it into another one.'
      : 'These tasks are merged. Unmerge them to merge them into another one.'
  const mergeable = tasks.filter(({ mergedInto }) => mergedInto === null)
  const reported = mergeable.filter(({ reports }) => reports > 1)
  if (reported.length > 1)
    return 'Other tasks are merged into several of these. Unmerge those of all but one to merge them.'
  return reported.length === 1 && mergeable.length === 1
    ? 'Other tasks are merged into this one. Unmerge them to merge it into another one.'
    : undefined
}

/** Why none of these tasks can be deleted; undefined if one can. */
export function deletionLock(tasks: Reported[]): string | undefined {
  if (tasks.length === 0 || tasks.some(({ reports }) => reports === 1)) return undefined
  return tasks.length === 1
    ? 'Other tasks are merged into this one. Unmerge them to delete it.'
    : 'Other tasks are merged into each of these. Unmerge them to delete these.'
}

/** Whether a task is bound to its project by what it is merged with. */
export const isTied = ({ mergedInto, reports }: Merged & Reported) => mergedInto !== null || reports > 1

const areMerged = (tasks: Merged[]) =>
  tasks.length > 0 && tasks.every(({ mergedInto }) => mergedInto !== null)

/** Whether the project is connected to the repository that the task came from. */
export function isOfConnected(
  { externalUrl }: Pick<Task, 'externalUrl'>,
  { codehost }: Pick<Project, 'codehost'>,
): boolean {
  const repository = repositoryOf(externalUrl)
  return codehost !== null && (!repository || repository.toLowerCase() === codehost.repository.toLowerCase())
}

/** `owner/name`, from the URL of an issue or pull request. */
export function repositoryOf(url: string | null): string | undefined {
  const [, owner, name] = URL.parse(url ?? '')?.pathname.split('/') ?? []
  return owner && name ? `${owner}/${name}` : undefined
}
