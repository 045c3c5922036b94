import { Menu } from '@mantine/core'
import { useQueries, useQuery } from '@tanstack/react-query'
import { listsQuery, projectsQuery } from '../api/queries.ts'

/** Every list tasks can go to, by project. */
export function useAllLists() {
  const { data: projects = [] } = useQuery(projectsQuery)
  const inUse = projects.filter(({ archivedAt }) => archivedAt === null)
  const lists = useQueries({ queries: inUse.map(({ id }) => listsQuery(id)) })
  return inUse.map((project, index) => ({ project, lists: lists[index]?.data ?? [] }))
}

export function ListMenuItems({ onPick }: { onPick(listId: string): void }) {
  return useAllLists().map(({ project, lists }) => (
    <div key={project.id}>
      <Menu.Label>{project.name}</Menu.Label>
      {lists.map((list) => (
        <Menu.Item key={list.id} onClick={() => onPick(list.id)}>
          {list.name}
        </Menu.Item>
      ))}
    </div>
  ))
}
