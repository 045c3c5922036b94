import { useQuery } from '@tanstack/react-query'
import { type Project, projectsQuery, type Task } from '../api/queries.ts'

/** Whether the code host manages the title, labels, and assignees of a task: it does until it is disconnected. */
export function useIsManaged(task: Task): boolean {
  const { data: projects } = useQuery(projectsQuery)
  const project = projects?.find(({ id }) => id === task.projectId)
  return task.source === 'codehost' && (project === undefined || isOfConnected(task, project))
}

/** Why the status of a task can't be changed, if it can't. */
export const statusLock = ({ mergedInto }: Pick<Task, 'mergedInto'>): string | undefined =>
  mergedInto === null ? undefined : 'This task is merged. Unmerge it to change its status.'

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
