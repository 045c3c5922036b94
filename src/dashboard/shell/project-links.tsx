import { ActionIcon } from '@mantine/core'
import { useLocalStorage } from '@mantine/hooks'
import { ChevronRightIcon, SlidersIcon } from '@primer/octicons-react'
import { useQuery } from '@tanstack/react-query'
import { listsQuery, type Project } from '../api/queries.ts'
import { Link } from '../navigation/link.tsx'
import { useFilters } from '../tasks/use-filters.ts'
import { OpenCount } from './open-count.tsx'
import styles from './sidebar.module.css'

/** A project and, when expanded, its lists. */
export function ProjectLinks({ project }: { project: Project }) {
  const search = useFilters()
  const [collapsed, setCollapsed] = useLocalStorage<Record<string, boolean>>({
    key: 'inlet-folded',
    defaultValue: {},
    getInitialValueInEffect: false,
  })
  const isCurrent = search.projectId === project.id
  const isOpen = collapsed[project.id] === false || (isCurrent && collapsed[project.id] !== true)
  const lists = useQuery({ ...listsQuery(project.id), enabled: isOpen })

  return (
    <div>
      <div className={styles.project}>
        <ActionIcon
          size={32}
          aria-label={`${isOpen ? 'Collapse' : 'Expand'} ${project.name}`}
          aria-expanded={isOpen}
          onClick={() => setCollapsed({ ...collapsed, [project.id]: isOpen })}
        >
          <ChevronRightIcon size={14} className={isOpen ? styles.expanded : undefined} />
        </ActionIcon>
        <Link
          to="/tasks"
          search={{ projectId: project.id }}
          className={`${styles.link} ${isCurrent && !search.listId ? styles.active : ''}`}
          onClick={() => setCollapsed({ ...collapsed, [project.id]: false })}
        >
          <span className={styles.name}>{project.name}</span>
          <OpenCount count={project.openCount} />
        </Link>
        <ActionIcon
          size={32}
          className={styles.gear}
          aria-label={`Settings for ${project.name}`}
          renderRoot={(props) => <Link to={`/projects/${project.id}`} {...props} />}
        >
          <SlidersIcon size={15} />
        </ActionIcon>
      </div>
      {isOpen &&
        lists.data?.map((list) => (
          <Link
            key={list.id}
            to="/tasks"
            search={{ projectId: project.id, listId: list.id }}
            className={`${styles.list} ${search.listId === list.id ? styles.active : ''}`}
          >
            <span className={styles.name}>{list.name}</span>
            <OpenCount count={list.openCount} />
          </Link>
        ))}
    </div>
  )
}
