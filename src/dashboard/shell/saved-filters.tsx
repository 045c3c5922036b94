import { ActionIcon } from '@mantine/core'
import { FilterIcon, KebabHorizontalIcon, PencilIcon, TrashIcon } from '@primer/octicons-react'
import { useQuery } from '@tanstack/react-query'
import { api, dataOf, type Schema } from '../api/client.ts'
import { preloadModule } from '../components/lazy.tsx'
import { MenuButton } from '../components/menu-button.tsx'
import { useMutation } from '../components/use-mutation.ts'
import { Link } from '../navigation/link.tsx'
import { useOpened } from '../navigation/use-opened.ts'
import { searchOf, validFilters } from '../tasks/filters.ts'
import { savedFiltersQuery } from '../tasks/list/saved-filters.ts'
import styles from './sidebar.module.css'

const loadUndo = preloadModule(() => import('../components/undo.tsx'))

export default function SavedFilters() {
  const { data: saved = [] } = useQuery(savedFiltersQuery)
  const { open } = useOpened('rename-filter')
  if (saved.length === 0) return null
  return (
    <>
      <div className={styles.heading}>
        <h2>My filters</h2>
      </div>
      {saved.map((filter) => (
        <SavedFilter key={filter.id} filter={filter} onRename={() => open(filter.id)} />
      ))}
    </>
  )
}

interface SavedFilterProps {
  filter: Schema<'SavedFilter'>
  onRename(): void
}

function SavedFilter({ filter: { id, name, query, count }, onRename }: SavedFilterProps) {
  const { mutate, refresh } = useMutation('saved-filters')
  const params = { path: { id } }
  const restore = () =>
    dataOf(api.POST('/api/saved-filters', { params: { header: {} }, body: { name, query } })).then(refresh)
  const remove = () =>
    mutate("Couldn't delete the filter", async () => {
      await dataOf(api.DELETE('/api/saved-filters/{id}', { params }))
      const { offerUndo, undoRequest } = await loadUndo()
      offerUndo(undoRequest(`Filter deleted: ${name}`, restore))
    })
  return (
    <div className={styles.project}>
      <Link
        to="/tasks"
        search={searchOf(validFilters(query))}
        className={`${styles.link} ${styles.filter}`}
        activeClassName={styles.active}
      >
        <FilterIcon size={15} aria-hidden />
        <span className={styles.name}>{name}</span>
        {count !== null && <FilterCount count={count} />}
      </Link>
      <MenuButton
        button={
          <ActionIcon className={styles.gear} aria-label={`Actions for filter ${name}`}>
            <KebabHorizontalIcon size={15} />
          </ActionIcon>
        }
        position="bottom-end"
        groups={[
          {
            actions: [
              { label: 'Rename', icon: <PencilIcon size={15} />, onClick: onRename },
              { label: 'Delete', icon: <TrashIcon size={15} />, onClick: () => void remove() },
            ],
          },
        ]}
      />
    </div>
  )
}

/** The service counts to this. */
const MAX_COUNT = 1_000

function FilterCount({ count }: { count: number }) {
  return (
    <span className={styles.count}>
      {count < MAX_COUNT ? count : '1,000+'}
      <span className="visually-hidden"> {count === 1 ? 'task' : 'tasks'}</span>
    </span>
  )
}
