import { ActionIcon } from '@mantine/core'
import { FilterIcon, XIcon } from '@primer/octicons-react'
import { Link } from '../navigation/link.tsx'
import { useSavedFilters } from '../tasks/list/saved-filters.ts'
import styles from './sidebar.module.css'

export function SavedFilters() {
  const [saved, setSaved] = useSavedFilters()
  if (saved.length === 0) return null
  return (
    <>
      <div className={styles.heading}>
        <h2>My filters</h2>
      </div>
      {saved.map(({ name, filters }) => (
        <div key={name} className={styles.project}>
          <Link to="/tasks" search={filters} className={styles.link} activeClassName={styles.active}>
            <FilterIcon size={15} aria-hidden />
            <span className={styles.name}>{name}</span>
          </Link>
          <ActionIcon
            className={styles.gear}
            aria-label={`Delete filter ${name}`}
            onClick={() => setSaved(saved.filter((other) => other.name !== name))}
          >
            <XIcon size={14} />
          </ActionIcon>
        </div>
      ))}
    </>
  )
}
