import { UnfoldIcon } from '@primer/octicons-react'
import type { Project } from '../api/queries.ts'
import { MenuButton } from '../components/menu-button.tsx'
import { useNavigate, useParams, useSearch } from '../navigation/router.tsx'
import { OpenCount } from './open-count.tsx'
import styles from './sidebar.module.css'

const ALL_PROJECTS = 'everywhere'

interface ProjectSwitcherProps {
  projects: Project[]
  openTasks: number
}

export function ProjectSwitcher({ projects, openTasks }: ProjectSwitcherProps) {
  const navigate = useNavigate()
  const search = useSearch()
  const params = useParams()
  const current = projects.find(({ id }) => id === (params.projectId ?? search.projectId))
  const name = current?.name ?? 'All projects'
  const openProject = (projectId: string) =>
    void navigate({ to: '/tasks', search: projectId === ALL_PROJECTS ? {} : { projectId } })

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
