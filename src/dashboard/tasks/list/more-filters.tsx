import { ActionIcon, Button } from '@mantine/core'
import { BookmarkIcon, XIcon } from '@primer/octicons-react'
import { useQuery } from '@tanstack/react-query'
import type { TaskFilters } from '../../api/queries.ts'
import { preload } from '../../components/lazy.tsx'
import { OnDemand } from '../../components/menu-button.tsx'
import { formatFilters, isDefaultView, isFiltered, validFilters } from '../filters.ts'
import { DownloadCsv } from './download-csv.tsx'
import { FILTER_NAMES, MORE_FILTERS, type MoreFilter, valueText } from './filter-texts.ts'
import styles from './more-filters.module.css'
import { savedFiltersQuery } from './saved-filters.ts'

const FilterPopover = preload(() => import('./filter-popover.tsx'))
const SaveFilterPopover = preload(() => import('./save-filter.tsx'))

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
  const addressOf = (some: object) => formatFilters(validFilters({ ...some }))
  if (!saved || saved.some(({ query }) => addressOf(query) === addressOf(filters))) return null
  const button = (
    <ActionIcon aria-label="Save filter">
      <BookmarkIcon size={16} />
    </ActionIcon>
  )
  return (
    <span data-item="save">
      <OnDemand button={button} kind="dialog">
        <SaveFilterPopover button={button} filters={filters} />
      </OnDemand>
    </span>
  )
}
