import { useQuery } from '@tanstack/react-query'
import { allListsQuery, projectsQuery } from './queries.ts'

/** The active projects with their lists, for what is open: a list to choose from. */
export function useAllLists({ isEnabled = true }: { isEnabled?: boolean } = {}) {
  const { data: projects = [] } = useQuery(projectsQuery)
  const { data: lists = [] } = useQuery({ ...allListsQuery, enabled: isEnabled })
  const byProject = Map.groupBy(lists, ({ projectId }) => projectId)
  return projects
    .filter(({ archivedAt }) => archivedAt === null)
    .map((project) => ({
      project,
      lists: (byProject.get(project.id) ?? []).toSorted((one, other) => one.position - other.position),
    }))
}
