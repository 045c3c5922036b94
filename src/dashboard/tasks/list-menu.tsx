import { Menu } from '@mantine/core'
import { useQueries, useQuery } from '@tanstack/react-query'
import { listsQuery, projectsQuery } from '../api/queries.ts'

/** The lists of all active projects. */
export function useAllLists() {
  const { data: projects = [] } = useQuery(projectsQuery)
  const active = projects.filter(({ archivedAt }) => archivedAt === null)
  const lists = useQueries({ queries: active.map(({ id }) => listsQuery(id)) })
  return active.map((project, index) => ({ project, lists: lists[index]?.data ?? [] }))
}

export function ListMenuItems({ onPick }: { onPick(listId: string): void }) {
  return useAllLists().map(({ project, lists }) => (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is no group of a menu.
    <div key={project.id} role="group" aria-label={project.name}>
      <Menu.Label>{project.name}</Menu.Label>
      {lists.map((list) => (
        <Menu.Item key={list.id} onClick={() => onPick(list.id)}>
          {list.name}
        </Menu.Item>
      ))}
    </div>
  ))
}
