import { ActionIcon } from '@mantine/core'
import { FilterIcon, XIcon } from '@primer/octicons-react'
import { useQuery } from '@tanstack/react-query'
import { api, dataOf } from '../api/client.ts'
import { useMutation } from '../components/use-mutation.ts'
import { Link } from '../navigation/link.tsx'
import { searchOf, validFilters } from '../tasks/filters.ts'
import { savedFiltersQuery } from '../tasks/list/saved-filters.ts'
import styles from './sidebar.module.css'

export default function SavedFilters() {
  const { data: saved = [] } = useQuery(savedFiltersQuery)
  const { mutate, isBusy } = useMutation('saved-filters')
  if (saved.length === 0) return null
  const remove = (id: string) =>
    mutate("Couldn't delete the filter", () =>
      dataOf(api.DELETE('/api/saved-filters/{id}', { params: { path: { id } } })),
    )
  return (
    <>
      <div className={styles.heading}>
        <h2>My filters</h2>
      </div>
      {saved.map(({ id, name, query, count }) => (
        <div key={id} className={styles.project}>
          <Link
            to="/tasks"
            search={searchOf(validFilters(query))}
            className={styles.link}
            activeClassName={styles.active}
          >
            <FilterIcon size={15} aria-hidden />
            <span className={styles.name}>{name}</span>
            {count !== null && <FilterCount count={count} />}
          </Link>
          <ActionIcon
            className={styles.gear}
            aria-label={`Delete filter ${name}`}
            disabled={isBusy}
            onClick={() => void remove(id)}
          >
            <XIcon size={14} />
          </ActionIcon>
        </div>
      ))}
    </>
  )
}

/** The service counts to this. */
const MAX_COUNT = 1_000

function FilterCount({ count }: { count: number }) {
  return (
    <span className={styles.count}>
      {count < MAX_COUNT ? count : '1,000+'}
      <span className="visually-hidden"> tasks</span>
    </span>
  )
}
