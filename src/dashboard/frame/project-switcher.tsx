import { Menu } from '@mantine/core'
import { IconSelector } from '@tabler/icons-react'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import type { Project } from '../api/queries.ts'
import styles from './sidebar.module.css'
import { Count } from './sidebar.tsx'

const EVERYWHERE = 'everywhere'

interface ProjectSwitcherProps {
  projects: Project[]
  openTasks: number
}

/** Where somebody is, and the short way to another project. */
export function ProjectSwitcher({ projects, openTasks }: ProjectSwitcherProps) {
  const navigate = useNavigate()
  const search = useSearch({ strict: false })
  const params = useParams({ strict: false })
  const here = projects.find(({ id }) => id === (params.projectId ?? search.projectId))
  const name = here?.name ?? 'All projects'
  const go = (projectId: string) =>
    void navigate({ to: '/tasks', search: projectId === EVERYWHERE ? {} : { projectId } })

  return (
    <Menu position="bottom-start" width={232}>
      <Menu.Target>
        <button
          type="button"
          className={`plain-button ${styles.switcher}`}
          aria-label={`${name}: switch the project`}
        >
          <strong className={styles.name}>{name}</strong>
          <IconSelector size={15} aria-hidden />
        </button>
      </Menu.Target>
      <Menu.Dropdown mah="60vh" style={{ overflowY: 'auto' }}>
        <Menu.RadioGroup value={here?.id ?? EVERYWHERE} onChange={go}>
          <Menu.RadioItem value={EVERYWHERE} rightSection={<Count of={openTasks} />}>
            All projects
          </Menu.RadioItem>
          {projects.map(({ id, name, openCount }) => (
            <Menu.RadioItem key={id} value={id} rightSection={<Count of={openCount} />}>
              {name}
            </Menu.RadioItem>
          ))}
        </Menu.RadioGroup>
      </Menu.Dropdown>
    </Menu>
  )
}
