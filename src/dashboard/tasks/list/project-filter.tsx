import { useQuery } from '@tanstack/react-query'
import { projectsQuery } from '../../api/queries.ts'
import { MenuButton } from '../../components/menu-button.tsx'
import { FilterButton } from './filter-menu.tsx'

interface ProjectFilterProps {
  projectId: string | undefined
  onChange(projectId: string | undefined): void
}

/** Offers active projects, when there are several. */
export function ProjectFilter({ projectId, onChange }: ProjectFilterProps) {
  const { data: projects = [] } = useQuery(projectsQuery)
  const selected = projects.find(({ id }) => id === projectId)
  const active = projects.filter(({ archivedAt }) => archivedAt === null)
  if (active.length <= 1 && !projectId) return null
  return (
    <MenuButton
      button={<FilterButton name="Project" labels={selected ? [selected.name] : []} />}
      position="bottom-start"
      groups={[
        {
          radioItems: [
            { value: '', label: 'All projects' },
            ...active.map(({ id, name }) => ({ value: id, label: name })),
          ],
          selected: projectId ?? '',
          onSelect: (id) => onChange(id || undefined),
        },
      ]}
    />
  )
}
