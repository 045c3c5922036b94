import { ActionIcon } from '@mantine/core'
import { FilterIcon, KebabHorizontalIcon, PencilIcon, TrashIcon } from '@primer/octicons-react'
import { useQuery } from '@tanstack/react-query'
import { Suspense, useState } from 'react'
import { api, dataOf, type Schema } from '../api/client.ts'
import { DialogLoading, preloadDialog, preloadModule } from '../components/lazy.tsx'
import { MenuButton } from '../components/menu-button.tsx'
import { useMutation } from '../components/use-mutation.ts'
import { Link } from '../navigation/link.tsx'
import { searchOf, validFilters } from '../tasks/filters.ts'
import { MAX_FILTER_NAME, savedFiltersQuery } from '../tasks/list/saved-filters.ts'
import styles from './sidebar.module.css'

const RenameDialog = preloadDialog(async () => ({
  default: (await import('../components/rename-dialog.tsx')).RenameDialog,
}))
const loadUndo = preloadModule(() => import('../components/undo.tsx'))

export default function SavedFilters() {
  const { data: saved = [] } = useQuery(savedFiltersQuery)
  if (saved.length === 0) return null
  return (
    <>
      <div className={styles.heading}>
        <h2>My filters</h2>
      </div>
      {saved.map((filter) => (
        <SavedFilter key={filter.id} filter={filter} />
      ))}
    </>
  )
}

function SavedFilter({ filter: { id, name, query, count } }: { filter: Schema<'SavedFilter'> }) {
  const { mutate, refresh, isBusy } = useMutation('saved-filters')
  const [isRenaming, setRenaming] = useState(false)
  const params = { path: { id } }
  const rename = (name: string) =>
    mutate("Couldn't rename the filter", () =>
      dataOf(api.PATCH('/api/saved-filters/{id}', { params, body: { name } })),
    )
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
              { label: 'Rename', icon: <PencilIcon size={15} />, onClick: () => setRenaming(true) },
              { label: 'Delete', icon: <TrashIcon size={15} />, onClick: () => void remove() },
            ],
          },
        ]}
      />
      <Suspense fallback={<DialogLoading />}>
        {isRenaming && (
          <RenameDialog
            title="Rename filter"
            name={name}
            maxLength={MAX_FILTER_NAME}
            isBusy={isBusy}
            onRename={rename}
            onClose={() => setRenaming(false)}
          />
        )}
      </Suspense>
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
