import { UnfoldIcon } from '@primer/octicons-react'
import { useLocation, useRoute } from 'wouter'
import type { Project } from '../api/queries.ts'
import { MenuButton } from '../components/menu-button.tsx'
import { formatSearch } from '../navigation/search-params.ts'
import { useFilters } from '../tasks/use-filters.ts'
import { OpenCount } from './open-count.tsx'
import styles from './sidebar.module.css'

const ALL_PROJECTS = 'everywhere'

interface ProjectSwitcherProps {
  projects: Project[]
  openTasks: number
}

export function ProjectSwitcher({ projects, openTasks }: ProjectSwitcherProps) {
  const [, navigate] = useLocation()
  const filters = useFilters()
  const [, params] = useRoute('/projects/:projectId')
  const current = projects.find(({ id }) => id === (params?.projectId ?? filters.projectId))
  const name = current?.name ?? 'All projects'
  const openProject = (projectId: string) =>
    navigate(`/tasks${formatSearch(projectId === ALL_PROJECTS ? {} : { projectId })}`)

  return (
    <MenuButton
      button={
        <button
          type="button"
          className={`plain-button ${styles.switcher}`}
          aria-label={`${name}: switch project`}
        >
          <strong className={styles.name}>{name}</strong>
          <UnfoldIcon size={15} aria-hidden />
        </button>
      }
      position="bottom-start"
      width={232}
      groups={[
        {
          radioItems: [
            { value: ALL_PROJECTS, label: 'All projects', aside: <OpenCount count={openTasks} /> },
            ...projects.map(({ id, name, openCount }) => ({
              value: id,
              label: name,
              aside: <OpenCount count={openCount} />,
            })),
          ],
          selected: current?.id ?? ALL_PROJECTS,
          onSelect: openProject,
        },
      ]}
    />
  )
}
