import { ActionIcon, Button } from '@mantine/core'
import { BookmarkIcon, XIcon } from '@primer/octicons-react'
import { useQuery } from '@tanstack/react-query'
import { Suspense } from 'react'
import type { TaskFilters } from '../../api/queries.ts'
import { DialogLoading, preload, preloadDialog } from '../../components/lazy.tsx'
import { OnDemand } from '../../components/menu-button.tsx'
import { useOpened } from '../../navigation/use-opened.ts'
import { formatFilters, isDefaultView, isFiltered, validFilters } from '../filters.ts'
import { DownloadCsv } from './download-csv.tsx'
import { FILTER, FILTER_NAMES, MORE_FILTERS, type MoreFilter, valueText } from './filter-texts.ts'
import styles from './more-filters.module.css'
import { savedFiltersQuery } from './saved-filters.ts'

const FilterPopover = preload(() => import('./filter-popover.tsx'))
const SaveFilterDialog = preloadDialog(() => import('./save-filter.tsx'))

interface MoreFiltersProps {
  filters: TaskFilters
  onChange(change: Partial<TaskFilters>): void
}

/** A chip for each further filter that is set, and what can be done with all of them. */
export default function MoreFilters({ filters, onChange }: MoreFiltersProps) {
  const chip = (name: MoreFilter) => (
    <Button variant="light" px={10}>
      {MORE_FILTERS[name]}: {valueText(name, filters)}
    </Button>
  )
  return (
    <>
      {FILTER_NAMES.filter((name) => filters[name] !== undefined).map((name) => (
        <span key={name} className={styles.chip} data-item={name}>
          <OnDemand button={chip(name)} kind="dialog">
            <FilterPopover button={chip(name)} name={name} filters={filters} onChange={onChange} />
          </OnDemand>
          <ActionIcon
            aria-label={`Remove filter ${MORE_FILTERS[name]}`}
            onClick={() => onChange({ [name]: undefined })}
          >
            <XIcon size={14} />
          </ActionIcon>
        </span>
      ))}
      {isFiltered(filters) && !isDefaultView(filters) && <SaveFilter filters={filters} />}
      <span data-item="csv">
        <DownloadCsv filters={filters} />
      </span>
    </>
  )
}

/** Absent where the filters are saved. */
function SaveFilter({ filters }: { filters: TaskFilters }) {
  const { data: saved } = useQuery(savedFiltersQuery)
  const { opened, open, close } = useOpened('new')
  const addressOf = (some: object) => formatFilters(validFilters({ ...some }))
  const address = addressOf(filters)
  if (!saved || saved.some(({ query }) => addressOf(query) === address)) return null
  return (
    <span data-item="save">
      <ActionIcon aria-label="Save filter" aria-haspopup="dialog" onClick={() => open(FILTER)}>
        <BookmarkIcon size={16} />
      </ActionIcon>
      <Suspense fallback={<DialogLoading />}>
        {opened === FILTER && <SaveFilterDialog key={address} filters={filters} onClose={close} />}
      </Suspense>
    </span>
  )
}
