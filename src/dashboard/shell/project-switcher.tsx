import { UnfoldIcon } from '@primer/octicons-react'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import type { Project } from '../api/queries.ts'
import { MenuButton } from '../components/menu-button.tsx'
import { Count } from './open-count.tsx'
import styles from './sidebar.module.css'

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
    <MenuButton
      button={
        <button
          type="button"
          className={`plain-button ${styles.switcher}`}
          aria-label={`${name}: switch the project`}
        >
          <strong className={styles.name}>{name}</strong>
          <UnfoldIcon size={15} aria-hidden />
        </button>
      }
      position="bottom-start"
      width={232}
      groups={[
        {
          pickOne: [
            { value: EVERYWHERE, words: 'All projects', aside: <Count of={openTasks} /> },
            ...projects.map(({ id, name, openCount }) => ({
              value: id,
              words: name,
              aside: <Count of={openCount} />,
            })),
          ],
          chosen: here?.id ?? EVERYWHERE,
          onPick: go,
        },
      ]}
    />
  )
}
